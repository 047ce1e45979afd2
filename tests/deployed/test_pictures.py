"""Pictures: their bytes pass gateway and functions unharmed, in archives and one by one."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.domain.datasets.example import picture_digest
from tests.deployed.client import StageClient
from tests.deployed.stage import Deployment
from tests.flows.client import VISION
from tests.flows.pictures import LABELS, folders, shape
from tests.flows.test_batches import compare_files, photos
from tests.formats.drawn import encoded, scene
from tests.pictures import make_zip

FILES = folders(count=6)
RED_BALL = shape(*LABELS["ball"], 77)


@pytest.fixture(scope="module")
def dataset(gallery: StageClient) -> dict[str, Any]:
    """A dataset of two labels, its archive sent as multipart."""
    return gallery.dataset(make_zip(FILES), file_name="shapes.zip", type="image")


@pytest.fixture(scope="module")
def gallery(new_client: Callable[..., StageClient]) -> Iterator[StageClient]:
    """The caller who owns the pictures; trainings of a free plan have a queue of their own."""
    with new_client("STARTER").vision() as made:
        yield made


@pytest.fixture(scope="module")
def model_id(gallery: StageClient, dataset: dict[str, Any]) -> str:
    """A model of them."""
    return gallery.model(dataset["id"], "shapes", epochs=10)


def test_pictures_arrive_unharmed(stage: Deployment, dataset: dict[str, Any]):
    """The bucket holds every picture of the archive under the digest of the very bytes sent."""
    prefix = f"datasets/{dataset['id']}/images/"
    pages = stage.client("s3").list_objects_v2(Bucket=stage.bucket, Prefix=prefix)
    stored = {entry["Key"].removeprefix(prefix): entry["Size"] for entry in pages["Contents"]}

    assert dataset["totalExamples"] == len(FILES)
    sent = {picture_digest(content).hex(): len(content) for content in FILES.values()}
    assert {name.partition(".")[0]: size for name, size in stored.items()} == sent


def test_training_and_prediction(gallery: StageClient, model_id: str):
    """The queue's function trains on features; a picture sent as multipart is recognised."""
    found = gallery.picture(model_id, RED_BALL).ok["probabilities"]

    assert found[0]["label"] == "ball"
    assert gallery.get(f"{VISION}/models/{model_id}").ok["metricsData"]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_multipart_and_base64_are_the_same_picture(gallery: StageClient, kind: str):
    """Raw bytes through the gateway give to the last digit what their Base64 in JSON gives."""
    content = encoded(scene(300, 200), kind)
    fields = {"modelId": "GeneralImageClassifier", "numResults": 1000}
    packed = {**fields, "sampleBase64Content": base64.b64encode(content).decode()}

    raw = gallery.picture(
        **{"model_id": "GeneralImageClassifier"}, content=content, numResults=1000
    )

    assert raw.ok == gallery.json("POST", f"{VISION}/predict", packed).ok
    assert len(raw.ok["probabilities"]) == 1000


def test_single_example_is_added(gallery: StageClient, dataset: dict[str, Any]):
    """One more picture, sent as a form, is an example with its URL, whose object is those bytes."""
    content = shape(*LABELS["box"], 99)
    fields = {"name": "more.png", "labelId": dataset["labelSummary"]["labels"][0]["id"]}
    path = f"{VISION}/datasets/{dataset['id']}/examples"

    added = gallery.multipart("POST", path, fields, {"data": ("more.png", content)}).ok

    assert added["label"]["id"] == fields["labelId"]


def test_batch_is_answered_by_the_queue(gallery: StageClient, model_id: str):
    """Pictures of an archive are answered to the byte as one by one, a bad one by its error."""
    files = {**photos(5), "notes.txt": b"no picture"}
    record = compare_files(gallery, "predict", files, 900, modelId=model_id)
    assert record["counts"] == {"total": 6, "done": 6, "failed": 1}
