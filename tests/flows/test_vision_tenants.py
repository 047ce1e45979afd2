"""Another account cannot tell that an image dataset, model, label or example exists."""

from __future__ import annotations

import base64

import pytest

from tests.flows.client import LANGUAGE, VISION, Client
from tests.flows.pictures import folders_zip
from tests.flows.test_picture_examples import UNSIGNED, fetch
from tests.flows.test_tenants import UNKNOWN_DATASET, UNKNOWN_MODEL, scrubbed
from tests.pictures import draw, make_zip
from tests.reads import reads

PICTURE = draw()


@pytest.fixture
def client(world) -> Client:
    """A caller of the calls below /vision with a new account."""
    return world.photographer()


@pytest.fixture
def foreign(gallery, shapes_id, shapes_model):
    """The ids of another account: dataset, label, model, deletion and batch."""
    labels = gallery.get(f"{VISION}/datasets/{shapes_id}").ok["labelSummary"]["labels"]
    gone = gallery.json("POST", f"{VISION}/datasets", {"name": "gone"}).ok
    deletion = gallery.delete(f"{VISION}/datasets/{gone['id']}").ok
    gallery.wait_deletion(deletion["id"])
    asked = {"modelId": shapes_model, "datasetId": shapes_id}
    batch = gallery.json("POST", f"{VISION}/batches", asked).ok
    return shapes_id, labels[0]["id"], shapes_model, deletion["id"], batch["id"]


def calls(dataset_id, label_id, model_id, deletion_id, batch_id):
    """List every call below /vision with an object id, as method, path, body and files."""
    dataset, model = f"{VISION}/datasets/{dataset_id}", f"{VISION}/models/{model_id}"
    sample = base64.b64encode(PICTURE).decode()
    asked = {"modelId": model_id, "sampleBase64Content": sample}
    feedback = {"modelId": model_id, "expectedLabel": "ball"}
    picture, archive = {"data": ("a.png", PICTURE)}, {"data": ("a.zip", make_zip({}))}
    shown = {"sampleContent": ("a.png", PICTURE)}
    names = {
        "dataset_id": dataset_id,
        "label_id": label_id,
        "model_id": model_id,
        "deletion_id": deletion_id,
        "batch_id": batch_id,
    }
    paths = [
        *reads("vision", **names),
        f"{dataset}/examples?source=feedback",
        f"{VISION}/examples/{dataset_id}/label/0",
    ]
    old = f"/v1/vision/datasets/{dataset_id}"
    return [
        *(("GET", path, {}, None) for path in paths),
        ("GET", f"{old}/labels", {}, None),
        ("GET", f"{old}/labels/{label_id}", {}, None),
        ("GET", f"{old}/examples/{label_id}", {}, None),
        ("POST", f"{old}/labels", {"name": "x"}, None),
        ("PUT", old, {}, archive),
        ("DELETE", dataset, {}, None),
        ("DELETE", model, {}, None),
        ("DELETE", f"{VISION}/batches/{batch_id}", {}, None),
        ("POST", f"{VISION}/batches", {"modelId": model_id}, archive),
        ("POST", f"{VISION}/rankings", {"modelId": model_id}, archive),
        ("PUT", f"{dataset}/upload", {}, archive),
        ("POST", f"{dataset}/examples", {"labelId": label_id}, picture),
        ("POST", f"{dataset}/examples", {"label": "ball"}, picture),
        ("POST", f"{VISION}/train", {"name": "m", "datasetId": dataset_id}, None),
        ("POST", f"{VISION}/retrain", {"modelId": model_id}, None),
        ("POST", f"{VISION}/feedback", feedback, picture),
        ("PUT", f"{VISION}/bulkfeedback", {"modelId": model_id}, archive),
        ("POST", f"{VISION}/predict", asked, None),
        ("POST", f"{VISION}/predict", {"modelId": model_id}, shown),
        ("POST", f"{VISION}/detect", asked, None),
    ]


def make(client, call):
    """Make one of those calls."""
    method, path, body, files = call
    if method in ("GET", "DELETE"):
        return client.send(method, path)
    return client.multipart(method, path, body, files)


def test_foreign_ids_answer_like_unknown_ones(client, gallery, foreign):
    """Every call answers the same 404 for foreign and unknown ids."""
    unknown = (UNKNOWN_DATASET, UNKNOWN_DATASET, *[UNKNOWN_MODEL] * 3)
    before = gallery.items(f"{VISION}/datasets/{foreign[0]}/examples", source="all")

    for call, other in zip(calls(*foreign), calls(*unknown), strict=True):
        found = scrubbed(make(client, call), *foreign)
        assert found == scrubbed(make(client, other), *unknown), call[:2]
        assert found[0] == 404, call[:2]

    usage = client.get("/v2/apiusage").ok["data"][0]
    assert usage["predictionsUsed"] == 0
    assert client.get(f"{VISION}/datasets").ok["data"] == []
    assert gallery.get(f"{VISION}/train/{foreign[2]}").ok["status"] == "SUCCEEDED"
    after = gallery.items(f"{VISION}/datasets/{foreign[0]}/examples", source="all")
    assert [item["id"] for item in after] == [item["id"] for item in before]


def test_foreign_dataset_is_not_a_global_one(client, foreign):
    """Another account's dataset cannot be used as a global dataset in a training."""
    made = client.dataset(folders_zip(count=2), file_name="x.zip")
    params = {"withGlobalDatasetId": foreign[0]}
    sent = {"name": "m", "datasetId": made["id"], "trainParams": params}
    refused = client.json("POST", f"{VISION}/train", sent)
    unknown = {**sent, "trainParams": {"withGlobalDatasetId": UNKNOWN_DATASET}}

    assert refused.status in (400, 404)
    other = client.json("POST", f"{VISION}/train", unknown)
    assert scrubbed(refused, foreign[0]) == scrubbed(other, UNKNOWN_DATASET)


def test_addresses_are_of_own_examples_only(client, gallery, foreign):
    """Equal images of two accounts are stored separately; a URL serves only its own object."""
    mine = client.dataset(folders_zip(), file_name="shapes.zip")
    own = client.items(f"{VISION}/datasets/{mine['id']}/examples")
    others = gallery.items(f"{VISION}/datasets/{foreign[0]}/examples")
    place = own[0]["location"].partition("?")[0]

    assert {x["location"].partition("?")[0] for x in own}.isdisjoint(
        x["location"].partition("?")[0] for x in others
    )
    assert fetch(own[0]["location"]).status == fetch(others[0]["location"]).status == 200
    assert f"datasets/{mine['id']}/images/" in place
    swapped = own[0]["location"].replace(f"datasets/{mine['id']}/", f"datasets/{foreign[0]}/")
    assert fetch(swapped).status == 403
    assert fetch(place).status == UNSIGNED


def test_models_and_deletions_are_one_namespace(gallery, foreign):
    """Models and deletions of images can be read below /language; datasets cannot."""
    dataset_id, _, model_id, deletion_id, _ = foreign

    for kind in ("train", "models", "deletion"):
        name = deletion_id if kind == "deletion" else model_id
        one, other = (gallery.get(f"{base}/{kind}/{name}") for base in (VISION, LANGUAGE))
        assert one.ok == other.ok
    assert gallery.get(f"{LANGUAGE}/datasets/{dataset_id}").status == 404
