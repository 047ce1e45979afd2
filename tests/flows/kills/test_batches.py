"""Workers die in the middle of batches."""

from __future__ import annotations

import json
import random
import threading
import time

import pytest

from tests.flows.client import LANGUAGE, VISION, opened
from tests.flows.kills.conftest import ROUNDS
from tests.flows.kills.killing import kill, wait
from tests.flows.pictures import folders_zip
from tests.flows.test_batches import answered, photos, single
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack
from tests.pictures import make_zip

LINES = max(3_500, 1_000 * ROUNDS)
EMPTY = frozenset(range(7, LINES, 1_000))
"""Lines without a text."""
PICTURES = 700


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_every_line_is_answered_once_however_often_a_worker_dies(
    stack: LocalStack, world: World
) -> None:
    """One line a line in the order of the input, and as many predictions as answers."""
    chance, client = random.Random(20), world.caller("GOLD", example_calls=1_000_000)
    dataset_id = int(client.dataset(csv_file(made_rows(60)))["id"])
    model_id = client.model(dataset_id)
    before = client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    sent = b"".join(
        json.dumps({"text": "" if n in EMPTY else f"number {n}", "id": f"n{n}"}).encode() + b"\n"
        for n in range(LINES)
    )
    path, files = f"{LANGUAGE}/batches", {"data": ("lines.jsonl", sent)}
    made = client.multipart("POST", path, {"modelId": model_id, "numResults": 1}, files).ok
    for _ in range(ROUNDS):
        time.sleep(chance.uniform(0.2, 2.0))
        kill(stack, "ingest")
    place, over = f"{path}/{made['id']}", ("SUCCEEDED", "FAILED")
    done = client.wait(place, lambda seen: seen["status"] in over, 300 + 30 * ROUNDS)[-1]
    assert (done["status"], done["counts"]) == (
        "SUCCEEDED",
        {"total": LINES, "done": LINES, "failed": len(EMPTY)},
    )
    with opened(done["resultUrl"]) as answer:
        lines = [json.loads(line) for line in answer.read().splitlines()]
    assert [line["id"] for line in lines] == [f"n{n}" for n in range(LINES)]
    assert ["error" in line for line in lines] == [n in EMPTY for n in range(LINES)]
    wait(
        lambda: (
            client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
            == before + LINES - len(EMPTY)
        )
    )


@pytest.mark.timeout(600 + 60 * ROUNDS)
def test_every_picture_is_answered_once_however_often_a_worker_dies(
    stack: LocalStack, world: World
) -> None:
    """A line a picture, equal to the single call, and as many predictions as answers."""
    chance, client = random.Random(21), world.photographer()
    dataset = client.dataset(folders_zip(), file_name="shapes.zip", type="image")
    model_id = client.model(dataset["id"], epochs=5)
    before = client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    files = {**photos(PICTURES), "none.png": b"no picture"}

    def kill_often() -> None:
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0.2, 2.0))
            kill(stack, "ingest")

    killer = threading.Thread(target=kill_often)
    killer.start()
    record, lines = answered(
        client, VISION, "p.zip", make_zip(files), seconds=500, modelId=model_id
    )
    killer.join()
    total = len(files)
    assert record["counts"] == {"total": total, "done": total, "failed": 1}
    assert [json.loads(line)["id"] for line in lines] == list(files)
    wait(lambda: client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == before + PICTURES)
    for name in list(files)[:: PICTURES // 7]:
        said = client.picture(model_id, files[name])
        assert lines[list(files).index(name)] == single(name, said.body)
