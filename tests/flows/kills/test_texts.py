"""Workers and the front are killed while they work on texts; what was accepted is finished."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from itertools import count

import pytest

from tests.flows.client import LANGUAGE, OPEN
from tests.flows.kills.killing import PATIENCE, kill
from tests.flows.test_deletions import left_in_bucket
from tests.flows.world import csv_file, made_rows, weather

BIG_ROWS = 550
"""Rows of the file of 10 MB: 19 KB each, mostly blanks, which cost an encoder nothing."""
ROWS = 240
"""Rows of the trainings that are killed."""


@pytest.fixture(scope="module")
def caller(world):
    """A caller; the first training has warmed the worker up."""
    made = world.caller("GOLD")
    made.model(made.dataset(weather())["id"])
    return made


@pytest.fixture(scope="module")
def big_file():
    """A file of 10 MB with its rows."""
    rows = [(f"{text}{' ' * 18_900}end", label) for text, label in made_rows(BIG_ROWS, labels=5)]
    content = csv_file([*rows, rows[0], ("no label", "")])
    assert 9.5e6 < len(content) < 12e6
    return content, rows


def listed(caller, dataset_id):
    """Every example of a dataset, with how often it is there."""
    items = caller.items(f"{LANGUAGE}/datasets/{dataset_id}/examples", source="all")
    assert len({item["id"] for item in items}) == len(items)
    return Counter((item["name"], item["label"]["name"]) for item in items)


@pytest.mark.parametrize("seconds", [0.15, 0.6, 1.2])
def test_killed_ingest_is_finished_once(stack, caller, big_file, seconds):
    """A worker killed while it reads 10 MB loses no row and writes none twice."""
    content, rows = big_file
    posted = caller.upload(content)
    time.sleep(seconds)
    state = caller.get(f"{LANGUAGE}/datasets/{posted['id']}").ok
    kill(stack, "ingest")
    done = caller.wait_dataset(posted["id"], PATIENCE)

    assert state["statusMsg"] in ("UPLOADING", "SUCCEEDED")
    assert (done["statusMsg"], done["totalExamples"], done["numOfDuplicates"]) == (
        "SUCCEEDED",
        BIG_ROWS,
        1,
    )
    assert [item["numExamples"] for item in done["labelSummary"]["labels"]] == [BIG_ROWS // 5] * 5
    (receipt,) = caller.items(f"{LANGUAGE}/datasets/{posted['id']}/receipts")
    numbers = [receipt[key] for key in ("seen", "kept", "duplicates", "rejected")]
    assert numbers == [BIG_ROWS + 2, BIG_ROWS, 1, 1]
    assert listed(caller, posted["id"]) == Counter(rows)
    record = caller.delete(f"{LANGUAGE}/datasets/{posted['id']}").ok
    caller.wait_deletion(record["id"], PATIENCE)


@pytest.fixture(scope="module")
def rows():
    """Rows whose embedding takes a while."""
    return made_rows(ROWS, labels=4)


@pytest.fixture(scope="module")
def reference(caller, rows):
    """Digest of the model of those rows when nobody disturbs its training."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    model_id = caller.model(dataset_id)
    return caller.get(f"{LANGUAGE}/models/{model_id}/card").ok["artifactSha256"]


def check_run(caller, model_id, reference):
    """A training that was disturbed ends like one that was not."""
    seen = caller.watch_model(model_id, PATIENCE)
    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert seen[-1]["status"] == "SUCCEEDED", seen[-1]
    assert seen[-1]["trainStats"]["examples"] == ROWS
    card = caller.get(f"{LANGUAGE}/models/{model_id}/card").ok
    assert card["artifactSha256"] == reference


def test_killed_embedding_is_made_up_for(stack, caller, rows, reference):
    """With the embedding worker killed twice, the training still gives the very same model."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    kill(stack, "ingest")
    time.sleep(0.3)
    kill(stack, "ingest")
    model_id = caller.train(dataset_id)["modelId"]

    check_run(caller, model_id, reference)


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_killed_training_is_finished(stack, caller, rows, reference, seconds):
    """A training killed while it runs is taken up and gives the same model, bit for bit."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    model_id = caller.train(dataset_id)["modelId"]
    path = f"{LANGUAGE}/train/{model_id}"
    caller.wait(path, lambda state: state["status"] != "QUEUED", PATIENCE)
    time.sleep(seconds)
    kill(stack, "train")

    check_run(caller, model_id, reference)
    models = caller.items(f"{LANGUAGE}/datasets/{dataset_id}/models")
    assert [model["modelId"] for model in models] == [model_id]


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_killed_deletion_is_finished(stack, caller, seconds):
    """A deletion whose worker dies goes on, and leaves nothing behind."""
    dataset_id = caller.dataset(csv_file(made_rows(600, labels=200)))["id"]
    first = caller.delete(f"{LANGUAGE}/datasets/{dataset_id}").ok
    time.sleep(seconds)
    kill(stack, "ingest")
    seen = [first, *caller.wait_deletion(first["id"], PATIENCE)]

    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert caller.get(f"{LANGUAGE}/datasets/{dataset_id}").status == 404
    assert left_in_bucket(stack, f"datasets/{dataset_id}/") == []
    left = stack.client("dynamodb").scan(
        TableName=f"{stack.settings.name}-examples",
        FilterExpression="begins_with(#key, :dataset)",
        ExpressionAttributeNames={"#key": "sequence"},
        ExpressionAttributeValues={":dataset": {"S": f"{dataset_id}#"}},
    )
    assert left["Items"] == []


class Adders:
    """Threads that add one text after the other and remember which were answered."""

    def __init__(self, caller, path):
        self._caller = caller
        self._path = path
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._add, args=(n,)) for n in range(4)]
        self.answered = []
        self.asked = set()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _add(self, worker):
        """Add texts until told to stop; a broken call may or may not have been done."""
        with self._caller.clone() as mine:
            for number in count():
                if self._is_over.is_set():
                    return
                text = f"text {worker} {number}"
                self.asked.add(text)
                try:
                    fields = {"document": text, "label": f"l{worker}"}
                    answer = mine.json("POST", self._path, fields)
                except (OSError, http.client.HTTPException):
                    continue
                if answer.status == 200:
                    self.answered.append(text)


def test_killed_front_loses_nothing_that_was_answered(stack, world):
    """While the front is killed three times, every example that got a 200 is there, once."""
    caller = world.caller("GOLD")
    made = caller.json("POST", f"{LANGUAGE}/datasets", {"name": "kept", "type": "text-intent"}).ok
    path = f"{LANGUAGE}/datasets/{made['id']}"
    with Adders(caller, f"{path}/examples") as adders:
        for _ in range(3):
            time.sleep(0.6)
            kill(stack, "front")
        time.sleep(0.6)
    caller.close()
    found = [text for text, _ in listed(caller, made["id"]).elements()]

    assert len(adders.answered) > 3
    assert len(set(found)) == len(found)
    assert set(adders.answered) <= set(found) <= adders.asked
    assert caller.get(path).ok["totalExamples"] == len(found)


def test_no_job_is_left(stack, world):
    """After everything, no queue of failed jobs holds a message and nothing is open."""
    sqs = stack.client("sqs")
    for url in sqs.list_queues().get("QueueUrls", []):
        if url.endswith(("-dead", "-dlq")):
            found = sqs.get_queue_attributes(
                QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
            )
            assert found["Attributes"]["ApproximateNumberOfMessages"] == "0", url
    rows = stack.client("dynamodb").scan(TableName=f"{stack.settings.name}-models")["Items"]
    assert not [row for row in rows if row["status"]["S"] in OPEN]
