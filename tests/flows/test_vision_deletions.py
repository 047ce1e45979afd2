"""Deleted objects are gone at once; models outlive their images."""

from __future__ import annotations

import pytest

from tests.flows.client import VISION, Client
from tests.flows.pictures import folders_zip, fruit_scenes, scenes_zip, shape
from tests.flows.test_deletions import left_in_bucket
from tests.flows.test_picture_examples import WAITING, fetch
from tests.pictures import draw


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


def test_models_outlive_their_pictures(client, stack):
    """Image URLs end at once; the model still predicts, and can be deleted.

    The deletion waits until no cache may hold a picture any more.
    """
    dataset = client.dataset(folders_zip(count=5), file_name="shapes.zip")
    path = f"{VISION}/datasets/{dataset['id']}"
    model_id = client.model(dataset["id"], epochs=5)
    urls = [item["location"] for item in client.items(f"{path}/examples")]
    assert {fetch(url).status for url in urls} == {200}
    before = client.picture(model_id, shape("circle", "red", 60)).ok

    deletion = client.delete(path).ok
    shown = client.get(f"{path}/examples")
    waiting = client.wait(
        f"{VISION}/deletion/{deletion['id']}", lambda d: d["status"] == WAITING, seconds=60
    )[-1]

    assert (deletion["type"], deletion["status"], deletion["progress"]) == ("DATASET", "QUEUED", 0)
    assert shown.status == 404
    assert waiting["progress"] == 1
    assert {fetch(url).status for url in urls} == {404}
    assert client.get(path).status == 404
    assert left_in_bucket(stack, f"datasets/{dataset['id']}/") == []
    assert client.picture(model_id, shape("circle", "red", 60)).ok == before
    assert client.get(f"{VISION}/models/{model_id}/card").status == 200
    file = {"data": ("a.png", draw())}
    feedback = {"modelId": model_id, "expectedLabel": "ball"}
    assert client.multipart("POST", f"{VISION}/feedback", feedback, file).status == 400
    assert client.json("POST", f"{VISION}/retrain", {"modelId": model_id}).status == 400
    gone = client.delete(f"{VISION}/models/{model_id}").ok
    assert client.picture(model_id, draw()).status == 404, "warm, and gone all the same"
    client.wait_deletion(gone["id"])
    assert left_in_bucket(stack, f"models/{model_id}/") == []


def test_warm_detection_model_dies_with_its_deletion(client, stack):
    """After DELETE, a model that has just predicted is a 404."""
    content = scenes_zip(fruit_scenes(2))
    dataset = client.dataset(content, file_name="t.zip", type="image-detection")
    model_id = client.model(dataset["id"], epochs=1)
    assert client.picture(model_id, draw(), call="detect").status == 200

    stack.pause_workers()
    try:
        deletion = client.delete(f"{VISION}/models/{model_id}").ok
        answers = [
            client.picture(model_id, draw(), call="detect"),
            client.get(f"{VISION}/models/{model_id}"),
            client.get(f"{VISION}/models/{model_id}/lc"),
            client.get(f"{VISION}/models/{model_id}/card"),
            client.get(f"{VISION}/train/{model_id}"),
        ]
    finally:
        stack.resume_workers()

    assert {answer.status for answer in answers} == {404}
    assert client.wait_deletion(deletion["id"])[-1]["progress"] == 1
    assert client.items(f"{VISION}/datasets/{dataset['id']}/models") == []


def test_dataset_in_training_is_not_deleted(client, stack):
    """While a training is queued its images stay; afterwards they can be deleted."""
    dataset = client.dataset(folders_zip(count=2), file_name="shapes.zip")
    path = f"{VISION}/datasets/{dataset['id']}"
    stack.pause_workers()
    try:
        model_id = client.train(dataset["id"], epochs=1)["modelId"]
        refused = client.delete(path)
    finally:
        stack.resume_workers()
    client.wait_model(model_id)

    assert refused.status == 409
    assert client.delete(path).status == 200


def test_deletion_ends_an_upload(client, stack):
    """A dataset deleted while its archive waits leaves no image behind."""
    stack.pause_workers()
    try:
        posted = client.upload(folders_zip(), "shapes.zip")
        deletion = client.delete(f"{VISION}/datasets/{posted['id']}").ok
    finally:
        stack.resume_workers()
    client.wait_deletion(deletion["id"])

    assert client.get(f"{VISION}/datasets/{posted['id']}").status == 404
    assert left_in_bucket(stack, f"datasets/{posted['id']}/") == []
