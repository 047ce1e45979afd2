"""With one worker, a second account waits for one job of the first, not for all twenty."""

from __future__ import annotations

import os

from tests.flows.world import World, csv_file, made_rows

TRIALS = int(os.environ.get("PRESAGE_TURN_TRIALS", "1"))
"""Repetitions of each test; `make turns` asks for a hundred."""
ROWS = csv_file(made_rows(300 if TRIALS > 1 else 80))
FEW_ROWS = csv_file(made_rows(24))


def finished_between(records: list[dict[str, object]], first: str, last: str) -> int:
    """Count the records that ended between two times."""
    return sum(first < str(record["updatedAt"]) < last for record in records)


def test_second_account_waits_for_one_upload_not_for_twenty(world: World) -> None:
    """After 20 uploads of one account, another account's upload waits for one or two of them."""
    for _ in range(TRIALS):
        many, one = world.caller(), world.caller()
        sent = [many.upload(ROWS)["id"] for _ in range(20)]
        asked = one.upload(ROWS)
        served = one.wait_dataset(asked["id"])
        records = [many.wait_dataset(dataset_id) for dataset_id in sent]

        # One is being read when the other arrives; a second may begin in the same moment.
        assert finished_between(records, asked["createdAt"], served["updatedAt"]) <= 2
        assert {record["statusMsg"] for record in records} == {"SUCCEEDED"}


def test_second_account_waits_for_one_training_not_for_five(world: World) -> None:
    """After 5 trainings of one account, another account's training waits for one or two."""
    many, one = world.caller(), world.caller()
    mine, theirs = many.dataset(FEW_ROWS)["id"], one.dataset(FEW_ROWS)["id"]
    for _ in range(TRIALS):
        sent = [many.train(mine)["modelId"] for _ in range(5)]
        asked = one.train(theirs)
        served = one.wait_model(asked["modelId"])
        records = [many.wait_model(model_id) for model_id in sent]

        assert finished_between(records, asked["createdAt"], served["updatedAt"]) <= 2
        assert {record["status"] for record in records} == {"SUCCEEDED"}
