"""Workers and the front are killed while they process texts; accepted work is finished."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from itertools import count

import pytest

from tests.flows.client import LANGUAGE, OPEN
from tests.flows.kills.killing import IS_LONG, PATIENCE, kill, wait, wait_for_moment
from tests.flows.test_deletions import left_in_bucket
from tests.flows.world import csv_file, made_rows, weather

BIG_ROWS = 550
"""Rows of the file of 10 MB: 19 KB each, mostly spaces, which cost an encoder nothing."""
ROWS = 240
"""Rows of the trainings that are killed."""
DELETED_ROWS = 600 if IS_LONG else 240
"""Rows of the datasets whose deletion is killed, three of each label."""
CHANCE = random.Random(9)


@pytest.fixture(scope="module")
def caller(world):
    """A caller; the first training has warmed up the worker."""
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
    """Return every example of a dataset with its number of occurrences."""
    items = caller.items(f"{LANGUAGE}/datasets/{dataset_id}/examples", source="all")
    assert len({item["id"] for item in items}) == len(items)
    return Counter((item["name"], item["label"]["name"]) for item in items)


def rows_of(stack, dataset_id):
    """Read the rows of a dataset's examples from the table."""
    found = stack.client("dynamodb").scan(
        TableName=f"{stack.settings.name}-examples",
        FilterExpression="begins_with(#key, :dataset)",
        ExpressionAttributeNames={"#key": "sequence"},
        ExpressionAttributeValues={":dataset": {"S": f"{dataset_id}#"}},
    )
    return found["Items"]


@pytest.mark.parametrize("seconds", [0.15, 0.6, 1.2] if IS_LONG else [0.0])
def test_killed_ingest_is_finished_once(stack, caller, big_file, seconds):
    """A worker killed while it reads 10 MB neither loses nor duplicates a row."""
    content, rows = big_file
    posted = caller.upload(content)
    wait_for_moment(lambda: rows_of(stack, posted["id"]), CHANCE, seconds, seconds)
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
    """Rows that take a while to embed."""
    return made_rows(ROWS, labels=4)


@pytest.fixture(scope="module")
def reference(caller, rows):
    """Digest of the model of an undisturbed training on those rows."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    model_id = caller.model(dataset_id)
    return caller.get(f"{LANGUAGE}/models/{model_id}/card").ok["artifactSha256"]


def check_run(caller, model_id, reference):
    """Check that an interrupted training gives the result of an undisturbed one."""
    seen = caller.watch_model(model_id, PATIENCE)
    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert seen[-1]["status"] == "SUCCEEDED", seen[-1]
    assert seen[-1]["trainStats"]["examples"] == ROWS
    card = caller.get(f"{LANGUAGE}/models/{model_id}/card").ok
    assert card["artifactSha256"] == reference


def test_killed_embedding_is_repeated(stack, caller, rows, reference):
    """A kill of the embedding worker does not change the trained model."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    kill(stack, "ingest")
    if IS_LONG:
        time.sleep(0.3)
        kill(stack, "ingest")
    model_id = caller.train(dataset_id)["modelId"]

    check_run(caller, model_id, reference)


@pytest.mark.parametrize("seconds", [0.0, 0.5] if IS_LONG else [0.0])
def test_killed_training_is_finished(stack, caller, rows, reference, seconds):
    """A killed training is resumed and gives the same model, bit for bit."""
    dataset_id = caller.dataset(csv_file(rows))["id"]
    model_id = caller.train(dataset_id)["modelId"]
    path = f"{LANGUAGE}/train/{model_id}"
    caller.wait(path, lambda state: state["status"] != "QUEUED", PATIENCE)
    time.sleep(seconds)
    kill(stack, "train")

    check_run(caller, model_id, reference)
    models = caller.items(f"{LANGUAGE}/datasets/{dataset_id}/models")
    assert [model["modelId"] for model in models] == [model_id]


@pytest.mark.parametrize("seconds", [0.0, 0.2] if IS_LONG else [0.0])
def test_killed_deletion_is_finished(stack, caller, seconds):
    """A deletion whose worker is killed is finished and leaves nothing behind."""
    made = csv_file(made_rows(DELETED_ROWS, labels=DELETED_ROWS // 3))
    dataset_id = caller.dataset(made)["id"]
    first = caller.delete(f"{LANGUAGE}/datasets/{dataset_id}").ok
    path = f"{LANGUAGE}/deletion/{first['id']}"
    wait_for_moment(lambda: caller.get(path).ok["status"] != "QUEUED", CHANCE, seconds, seconds)
    kill(stack, "ingest")
    seen = [first, *caller.wait_deletion(first["id"], PATIENCE)]

    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert caller.get(f"{LANGUAGE}/datasets/{dataset_id}").status == 404
    assert left_in_bucket(stack, f"datasets/{dataset_id}/") == []
    assert rows_of(stack, dataset_id) == []


class Adders:
    """Threads that add texts one after the other and record which were answered."""

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
        """Add texts until stopped; a broken call may or may not have succeeded."""
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


def test_killed_front_loses_no_answered_example(stack, world):
    """When the front is killed, every example that got a 200 is stored once."""
    caller = world.caller("GOLD")
    made = caller.json("POST", f"{LANGUAGE}/datasets", {"name": "kept", "type": "text-intent"}).ok
    path = f"{LANGUAGE}/datasets/{made['id']}"
    with Adders(caller, f"{path}/examples") as adders:
        for number in range(1, 4 if IS_LONG else 2):
            wait_for_moment(lambda n=number: len(adders.answered) > 3 * n, CHANCE, 0.6, 0.6)
            kill(stack, "front")
        seen = len(adders.answered)
        wait(lambda: len(adders.answered) > seen + 3)
    caller.close()
    found = [text for text, _ in listed(caller, made["id"]).elements()]

    assert len(adders.answered) > 3
    assert len(set(found)) == len(found)
    assert set(adders.answered) <= set(found) <= adders.asked
    assert caller.get(path).ok["totalExamples"] == len(found)


def test_no_job_is_left(stack, world):
    """Afterwards no dead-letter queue holds a message, and no work is open."""
    sqs = stack.client("sqs")
    for url in sqs.list_queues().get("QueueUrls", []):
        if url.endswith(("-dead", "-dlq")):
            found = sqs.get_queue_attributes(
                QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
            )
            assert found["Attributes"]["ApproximateNumberOfMessages"] == "0", url
    rows = stack.client("dynamodb").scan(TableName=f"{stack.settings.name}-models")["Items"]
    assert not [row for row in rows if row["status"]["S"] in OPEN]
