"""Workers are killed during batches."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest
from python_calamine import CalamineWorkbook

from tests.flows.client import LANGUAGE, VISION, opened
from tests.flows.kills.killing import (
    IS_LONG,
    ROUNDS,
    has_lines_done,
    kill,
    wait,
    wait_for_moment,
)
from tests.flows.pictures import folders_zip
from tests.flows.test_batches import photos, send_batch, single, wait_for_result
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack
from tests.pictures import make_zip

LINES = max(3_500, 1_000 * ROUNDS) if IS_LONG else 350
"""Four parts, of 1,000 lines in the long tier and of 100 in the short one."""
EMPTY = frozenset(range(7, LINES, LINES // 4))
"""Lines without a text."""
IMAGES = 700 if IS_LONG else 36
"""Images of a batch, in parts of 64 in the long tier and of 8 in the short one."""


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_every_line_is_answered_once_however_often_a_worker_is_killed(
    stack: LocalStack, world: World
) -> None:
    """Despite kills each input line has one result in order, and counts once."""
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
        wait_for_moment(lambda: has_lines_done(client, made["id"]), chance, 0.2, 2.0)
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


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_a_workbook_has_every_row_however_often_a_worker_is_killed(
    stack: LocalStack, world: World
) -> None:
    """Despite kills, also while the workbook is written, each row has one result in order."""
    chance, client = random.Random(22), world.caller("GOLD", example_calls=1_000_000)
    model_id = client.model(int(client.dataset(csv_file(made_rows(60)))["id"]))
    rows = [[f"{n:05d}", "" if n in EMPTY else f"number {n}", "=1+1"] for n in range(LINES)]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["nr", "text", "label"], *rows])
    fields = {"modelId": model_id, "format": "xlsx", "columns": "input"}
    made = send_batch(client, LANGUAGE, "t.csv", text.getvalue().encode(), **fields)
    for _ in range(ROUNDS):
        wait_for_moment(lambda: has_lines_done(client, made["id"]), chance, 0.2, 2.0)
        kill(stack, "ingest")
    place, over = f"{LANGUAGE}/batches/{made['id']}", ("SUCCEEDED", "FAILED")
    done = client.wait(place, lambda seen: seen["status"] in over, 300 + 30 * ROUNDS)[-1]
    counts = {"total": LINES, "done": LINES, "failed": len(EMPTY)}
    assert (done["status"], done["counts"]) == ("SUCCEEDED", counts)
    with opened(done["resultUrl"]) as answer:
        content = io.BytesIO(answer.read())
    found = CalamineWorkbook.from_filelike(content).get_sheet_by_index(0).to_python()
    assert found[0] == ["nr", "text", "label", "presage_label", "probability", "error"]
    assert [row[:3] for row in found[1:]] == rows
    assert [bool(row[3]) for row in found[1:]] == [n not in EMPTY for n in range(LINES)]


@pytest.mark.timeout(600 + 60 * ROUNDS)
def test_every_image_is_answered_once_however_often_a_worker_is_killed(
    stack: LocalStack, world: World
) -> None:
    """Despite kills each image has one line, equal to the single call, and counts once."""
    chance, client = random.Random(21), world.photographer()
    dataset = client.dataset(folders_zip(), file_name="shapes.zip", type="image")
    model_id = client.model(dataset["id"], epochs=5)
    before = client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    files = {**photos(IMAGES), "none.png": b"no picture"}
    made = send_batch(client, VISION, "p.zip", make_zip(files), modelId=model_id)
    for _ in range(ROUNDS):
        wait_for_moment(lambda: has_lines_done(client, made["id"], VISION), chance, 0.2, 2.0)
        kill(stack, "ingest")
    record, lines = wait_for_result(client, VISION, made["id"], 500)
    total = len(files)
    assert record["counts"] == {"total": total, "done": total, "failed": 1}
    assert [json.loads(line)["id"] for line in lines] == list(files)
    wait(lambda: client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == before + IMAGES)
    for name in list(files)[:: IMAGES // 7]:
        said = client.picture(model_id, files[name])
        assert lines[list(files).index(name)] == single(name, said.body)
