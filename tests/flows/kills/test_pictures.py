"""Workers are killed while they process image archives; accepted work is finished.

Killed trainings of boxes are in test_boxes.py.
"""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest

from tests.flows.client import VISION
from tests.flows.kills.killing import IS_LONG, PATIENCE, kill, wait_for_moment
from tests.flows.pictures import folders, folders_zip
from tests.flows.test_deletions import left_in_bucket
from tests.flows.test_picture_examples import fetch
from tests.pictures import draw, make_zip

COUNT = 120 if IS_LONG else 40
"""Images of each of the two labels of a large upload."""
EPOCHS = 60
CHANCE = random.Random(10)


@pytest.fixture(scope="module")
def client(world):
    """A caller of the calls below /vision; a first training has warmed up the workers."""
    made = world.photographer()
    made.model(made.dataset(folders_zip(count=2), file_name="warm.zip")["id"], epochs=1)
    return made


@pytest.fixture(scope="module")
def large():
    """An archive of many images, one duplicated, one broken, and its expected examples."""
    files = folders(count=COUNT)
    rows = Counter((name.split("/")[1], name.split("/")[0]) for name in files)
    twin = files["ball/ball-00.png"]
    return make_zip({**files, "ball/twin.png": twin, "box/cut.png": draw()[:-9]}), rows


@pytest.mark.parametrize("seconds", [0.1, 0.7] if IS_LONG else [0.0])
def test_killed_ingest_is_finished_once(stack, client, large, seconds):
    """A worker killed while it reads an archive neither loses nor duplicates an image."""
    content, rows = large
    posted = client.upload(content, "large.zip")
    images = f"datasets/{posted['id']}/images/"
    wait_for_moment(lambda: left_in_bucket(stack, images), CHANCE, seconds, seconds)
    kill(stack, "ingest")
    done = client.wait_dataset(posted["id"], PATIENCE)

    counts = [item["numExamples"] for item in done["labelSummary"]["labels"]]
    assert (done["statusMsg"], counts) == ("SUCCEEDED", [COUNT, COUNT])
    (receipt,) = client.items(f"{VISION}/datasets/{posted['id']}/receipts")
    numbers = [receipt[key] for key in ("seen", "kept", "duplicates", "rejected")]
    assert numbers == [2 * COUNT + 2, 2 * COUNT, 1, 1]
    items = client.items(f"{VISION}/datasets/{posted['id']}/examples")
    assert Counter((item["name"], item["label"]["name"]) for item in items) == rows
    assert len({item["id"] for item in items}) == 2 * COUNT
    assert {fetch(item["location"]).status for item in items[::40]} == {200}
    assert len(left_in_bucket(stack, images)) == 2 * COUNT
    client.delete(f"{VISION}/datasets/{posted['id']}").ok  # noqa: B018 - must be 200


@pytest.fixture(scope="module")
def reference(client):
    """Digest of the model of an undisturbed training on some images."""
    return train(client, client.dataset(folders_zip(count=20), file_name="a.zip"))


def train(client, dataset):
    """Train and return the digest of the model."""
    model_id = client.train(dataset["id"], epochs=EPOCHS)["modelId"]
    return finished(client, model_id)


def finished(client, model_id):
    """Wait for an interrupted training, check its curve, and return the model's digest."""
    seen = client.watch_model(model_id, PATIENCE)
    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert seen[-1]["status"] == "SUCCEEDED", seen[-1]
    epochs = client.items(f"{VISION}/models/{model_id}/lc")
    assert [record["epoch"] for record in epochs] == list(range(1, EPOCHS + 1))
    return client.get(f"{VISION}/models/{model_id}/card").ok["artifactSha256"]


def test_killed_features_are_computed_again(stack, client, reference):
    """A worker killed while it computes features does not change the trained model."""
    dataset = client.dataset(folders_zip(count=20), file_name="a.zip")
    kill(stack, "ingest")
    if IS_LONG:
        time.sleep(0.3)
        kill(stack, "ingest")

    assert train(client, dataset) == reference


def test_killed_training_is_finished(stack, client, reference):
    """A killed training is resumed, with the same model and one complete curve."""
    dataset = client.dataset(folders_zip(count=20), file_name="a.zip")
    model_id = client.train(dataset["id"], epochs=EPOCHS)["modelId"]
    path = f"{VISION}/train/{model_id}"
    client.wait(path, lambda state: state["status"] != "QUEUED", PATIENCE)
    if IS_LONG:
        time.sleep(0.3)
    kill(stack, "train")

    assert finished(client, model_id) == reference


def test_killed_deletion_leaves_nothing(stack, client, large):
    """A deletion whose worker is killed is finished and leaves no image behind."""
    dataset = client.dataset(large[0], file_name="large.zip")
    deletion = client.delete(f"{VISION}/datasets/{dataset['id']}").ok
    path = f"{VISION}/deletion/{deletion['id']}"
    wait_for_moment(lambda: client.get(path).ok["status"] != "QUEUED", CHANCE, 0.1, 0.1)
    kill(stack, "ingest")
    client.wait_deletion(deletion["id"], PATIENCE)

    assert left_in_bucket(stack, f"datasets/{dataset['id']}/") == []


def test_no_job_is_left(stack):
    """Afterwards no dead-letter queue holds a message."""
    sqs = stack.client("sqs")
    for url in sqs.list_queues().get("QueueUrls", []):
        if url.endswith(("-dead", "-dlq")):
            found = sqs.get_queue_attributes(
                QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
            )
            assert found["Attributes"]["ApproximateNumberOfMessages"] == "0", url
