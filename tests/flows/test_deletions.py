"""The life cycle of deletions, and that nothing of the object remains."""

from __future__ import annotations

import json
import re

import pytest

from infra.resources import table_resources
from tests.flows.client import LANGUAGE
from tests.flows.world import csv_file, made_rows, weather

STATES = ["QUEUED", "RUNNING", "SUCCEEDED"]


def check_states(seen):
    """Check that a deletion's states only move forward."""
    places = [STATES.index(state["status"]) for state in seen]
    progress = [state["progress"] for state in seen]
    assert places == sorted(places)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0, 1)
    assert seen[-1]["message"] is None


def left_in_bucket(stack, prefix):
    """Return the keys of objects below a prefix."""
    bucket = stack.settings.bucket
    found = stack.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [item["Key"] for item in found.get("Contents", [])]


def named_ids(item):
    """Return the ids by which rows refer to a dataset."""
    # Chunks also hold numbers of examples, which may be equal to the id of another dataset.
    return re.findall(r"\d+", item["sequence"]["S"]) if "sequence" in item else item


def left_in_tables(stack, *needles):
    """Return the tables that still hold one of the ids, except deletion records."""
    dynamo = stack.client("dynamodb")
    found = []
    for table in (resource.name for resource in table_resources(stack.settings)):
        pages = dynamo.get_paginator("scan").paginate(TableName=table)
        text = json.dumps(
            [named_ids(item) for page in pages for item in page["Items"]], default=repr
        )
        if not table.endswith("-deletions") and any(needle in text for needle in needles):
            found.append(table)
    return found


def test_model_is_gone_at_once_and_for_ever(stack, owner, weather_id):
    """After DELETE a model is a 404 everywhere; a repeated DELETE returns the same record."""
    model_id = owner.model(weather_id, "short-lived")
    assert owner.predict(model_id, "rain").status == 200
    first = owner.delete(f"{LANGUAGE}/models/{model_id}").ok
    paths = [f"{LANGUAGE}/train/{model_id}", f"{LANGUAGE}/models/{model_id}"]
    paths += [f"{LANGUAGE}/models/{model_id}/{part}" for part in ("lc", "card")]
    statuses = [owner.get(path).status for path in paths]
    asked = owner.predict(model_id, "rain").status
    retrained = owner.json("POST", f"{LANGUAGE}/retrain", {"modelId": model_id}).status
    seen = [first, *owner.wait_deletion(first["id"])]
    again = owner.delete(f"{LANGUAGE}/models/{model_id}").ok

    assert (first["type"], first["deletedObjectId"]) == ("MODEL", model_id)
    assert {*statuses, asked, retrained} == {404}
    check_states(seen)
    assert again == seen[-1]
    assert [owner.get(path).status for path in paths] == statuses
    listed = owner.items(f"{LANGUAGE}/datasets/{weather_id}/models")
    assert model_id not in {item["modelId"] for item in listed}
    assert left_in_bucket(stack, f"models/{model_id}") == []
    assert left_in_tables(stack, model_id) == []


def test_dataset_leaves_nothing_but_its_models(stack, client):
    """A deleted dataset leaves no row and no object; its model still predicts."""
    dataset = client.dataset(weather())
    dataset_id, path = dataset["id"], f"{LANGUAGE}/datasets/{dataset['id']}"
    model_id = client.model(dataset_id)
    stack.pause_workers()
    try:
        first = client.delete(path).ok
        pending = client.get(path).ok
        listed = client.get(f"{LANGUAGE}/datasets").ok["data"]
        examples = client.get(f"{path}/examples").status
        train = client.json("POST", f"{LANGUAGE}/train", {"name": "m", "datasetId": dataset_id})
        added = client.multipart("PUT", f"{path}/upload", {}, {"data": ("a.csv", b"a,b")})
    finally:
        stack.resume_workers()
    seen = [first, *client.wait_deletion(first["id"])]

    assert (pending["statusMsg"], pending["available"]) == ("DELETION_PENDING", False)
    assert [item["id"] for item in listed] == [dataset_id]
    assert (examples, train.status, added.status) == (404, 409, 409)
    check_states(seen)
    assert client.delete(path).ok == seen[-1]
    for part in ("", "/examples", "/models", "/receipts"):
        assert client.get(path + part).status == 404
    assert client.get(f"{LANGUAGE}/datasets").ok["data"] == []
    assert client.best(model_id, "is it raining") == "current-weather"
    assert client.json("POST", f"{LANGUAGE}/retrain", {"modelId": model_id}).status == 400
    assert left_in_bucket(stack, f"datasets/{dataset_id}/") == []
    label_ids = [str(item["id"]) for item in dataset["labelSummary"]["labels"]]
    kept = left_in_tables(stack, *(f'"{n}"' for n in (dataset_id, *label_ids)))
    assert set(kept) <= {f"{stack.settings.name}-{short}" for short in ("models", "counters")}


def test_delete_ends_an_upload(stack, client):
    """Deleting a dataset that is being read ends the upload; nothing comes back."""
    stack.pause_workers()
    try:
        posted = client.upload(csv_file(made_rows(500)))
        first = client.delete(f"{LANGUAGE}/datasets/{posted['id']}").ok
    finally:
        stack.resume_workers()
    client.wait_deletion(first["id"])

    assert client.get(f"{LANGUAGE}/datasets/{posted['id']}").status == 404
    assert left_in_bucket(stack, f"datasets/{posted['id']}/") == []


@pytest.mark.parametrize("kind", ["datasets", "models"])
def test_unknown_object_cannot_be_deleted(client, kind):
    """Deleting an unknown id is a 404."""
    unknown = "1" if kind == "datasets" else "A" * 26

    assert client.delete(f"{LANGUAGE}/{kind}/{unknown}").status == 404


def test_deletion_is_seen_from_both_families(owner, weather_id):
    """Models and deletions can be read below both families; datasets only below their own."""
    model_id = owner.model(weather_id, "both")
    record = owner.delete(f"/v2/vision/models/{model_id}").ok
    owner.wait_deletion(record["id"])

    assert owner.get(f"/v2/vision/deletion/{record['id']}").ok["status"] == "SUCCEEDED"
    assert owner.delete(f"/v2/vision/datasets/{weather_id}").status == 404
