"""Simultaneous callers: calls are counted exactly, and no answer mixes two requests."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from tests.flows.crowd import Asked, mixed_calls, run_crowd, spend
from tests.flows.world import csv_file

THREADS = 32
CALLS = 480


def test_exactly_the_allowance_is_answered(world):
    """Of 64 callers that share 200 remaining predictions, exactly 200 calls succeed."""
    caller = world.caller()
    world.set_used(caller, 1_800)
    statuses = spend(caller, "CommunitySentiment", 288)

    assert statuses == {200: 200, 429: 88}
    usage = caller.get("/v2/apiusage").ok["data"][0]
    assert (usage["predictionsUsed"], usage["predictionsRemaining"]) == (2_000, 0)


def test_example_calls_are_counted_exactly(world):
    """Of 45 simultaneous example calls exactly 30 succeed."""
    caller = world.caller()
    fields = {"name": "one", "type": "text-intent", "labels": "a"}
    made = caller.json("POST", "/v2/language/datasets", fields).ok
    statuses = []

    def read():
        """Read one page."""
        with caller.clone() as mine:
            answer = mine.get(f"/v2/language/datasets/{made['id']}/examples")
            statuses.append(answer.status)

    threads = [threading.Thread(target=read) for _ in range(45)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [200] * 30 + [429] * 15


@pytest.mark.timeout(300)
def test_no_answer_mixes_two_requests(world):
    """480 calls of 32 threads, four accounts and models: each answer belongs to its request."""
    crowd = []
    for number in range(4):
        caller = world.caller("GOLD")
        labels = [f"account{number}-{side}" for side in ("left", "right")]
        rows = [(f"{label.split('-')[1]} turn {n}", label) for label in labels for n in range(6)]
        model_id = caller.model(caller.dataset(csv_file(rows), name=f"set {number}")["id"])
        crowd.append(Asked(caller, model_id, frozenset(labels), f"set {number}"))
    troubles = run_crowd(THREADS, CALLS, mixed_calls(crowd))

    assert troubles == []


def test_parallel_trainings_of_one_account_keep_their_limit(world):
    """Of twelve simultaneous trainings five are accepted, and each is trained once."""
    caller = world.caller()
    rows = [(f"text {n}", "ab"[n % 2]) for n in range(12)]
    dataset_id = caller.dataset(csv_file(rows))["id"]
    numbers = count()

    def ask(_):
        """Start one training."""
        with caller.clone() as mine:
            fields = {"name": f"m{next(numbers)}", "datasetId": dataset_id}
            return mine.json("POST", "/v2/language/train", fields)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    accepted = [answer.data["modelId"] for answer in answers if answer.status == 200]
    ended = [caller.wait_model(model_id)["status"] for model_id in accepted]

    assert {answer.status for answer in answers} <= {200, 429}
    assert len(accepted) >= 5
    assert ended == ["SUCCEEDED"] * len(accepted)
    models = caller.items(f"/v2/language/datasets/{dataset_id}/models")
    assert sorted(model["modelId"] for model in models) == sorted(accepted)
