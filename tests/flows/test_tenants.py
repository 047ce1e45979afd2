"""Another account cannot tell that an id exists."""

from __future__ import annotations

import pytest

from tests.flows.client import LANGUAGE
from tests.reads import reads

UNKNOWN_MODEL = "A" * 26
UNKNOWN_DATASET = 999_999_999


def calls(*ids):
    """List every route with an object id in its path or query."""
    kinds = ("dataset_id", "label_id", "model_id", "deletion_id", "batch_id")
    names = dict(zip(kinds, ids, strict=True))
    return [
        *(("GET", path) for path in reads("language", **names)),
        ("DELETE", f"{LANGUAGE}/datasets/{names['dataset_id']}"),
        ("DELETE", f"{LANGUAGE}/models/{names['model_id']}"),
        ("PUT", f"{LANGUAGE}/datasets/{names['dataset_id']}"),
        ("PUT", f"{LANGUAGE}/datasets/{names['dataset_id']}/labels/{names['label_id']}"),
        ("DELETE", f"{LANGUAGE}/datasets/{names['dataset_id']}/labels/{names['label_id']}"),
        ("PUT", f"{LANGUAGE}/datasets/{names['dataset_id']}/examples/1000001"),
        ("DELETE", f"{LANGUAGE}/datasets/{names['dataset_id']}/examples/1000001"),
        ("POST", f"{LANGUAGE}/datasets/{names['dataset_id']}/corrections"),
        ("DELETE", f"{LANGUAGE}/batches/{names['batch_id']}"),
    ]


def writes(dataset_id, label_id, model_id):
    """List every call with an object id in its body, and those with a body below an object."""
    dataset = f"{LANGUAGE}/datasets/{dataset_id}"
    text = {"document": "rain", "modelId": model_id}
    return [
        (f"{LANGUAGE}/train", {"name": "m", "datasetId": dataset_id}),
        (f"{LANGUAGE}/retrain", {"modelId": model_id}),
        (f"{LANGUAGE}/models/{model_id}/adjust", {"datasetId": dataset_id}),
        (f"{LANGUAGE}/intent", text),
        (f"{LANGUAGE}/sentiment", text),
        (f"{LANGUAGE}/feedback", {**text, "expectedLabel": "current-weather"}),
        (f"{dataset}/examples", {"document": "rain", "labelId": label_id}),
        (f"{dataset}/exports", {"format": "csv"}),
        (f"{LANGUAGE}/batches", {"modelId": model_id, "datasetId": dataset_id}),
        (f"{LANGUAGE}/rankings", {"modelId": model_id, "datasetId": dataset_id}),
    ]


@pytest.fixture
def foreign(owner, weather_id, weather_model):
    """The ids of another account: dataset, label, model, deletion and batch."""
    labels = owner.get(f"{LANGUAGE}/datasets/{weather_id}").ok["labelSummary"]["labels"]
    gone = owner.json("POST", f"{LANGUAGE}/datasets", {"name": "gone", "type": "text-intent"}).ok
    deletion = owner.delete(f"{LANGUAGE}/datasets/{gone['id']}").ok
    asked = {"modelId": weather_model, "datasetId": weather_id}
    batch = owner.json("POST", f"{LANGUAGE}/batches", asked).ok
    return weather_id, labels[0]["id"], weather_model, deletion["id"], batch["id"]


def scrubbed(answer, *ids):
    """Return status and body without the requested id."""
    text = answer.body.decode()
    for one in ids:
        text = text.replace(str(one), "ID")
    return answer.status, text


def test_foreign_ids_answer_like_unknown_ones(client, owner, foreign):
    """Every route answers the same 404 for foreign and unknown ids."""
    dataset_id, _, model_id, deletion_id, batch_id = foreign
    unknown = (UNKNOWN_DATASET, UNKNOWN_DATASET, UNKNOWN_MODEL, UNKNOWN_MODEL, UNKNOWN_MODEL)
    for (method, path), (_, other) in zip(calls(*foreign), calls(*unknown), strict=True):
        found = scrubbed(client.send(method, path), *foreign)
        assert found == scrubbed(client.send(method, other), *unknown), path
        assert found[0] == 404, path
    pairs = zip(writes(*foreign[:3]), writes(*unknown[:3]), strict=True)
    for (path, body), (other, unknown_body) in pairs:
        found = scrubbed(client.json("POST", path, body), *foreign)
        assert found == scrubbed(client.json("POST", other, unknown_body), *unknown), path
        assert found[0] == 404, path
    sent = {"data": ("a.csv", b"a,b")}
    put = client.multipart("PUT", f"{LANGUAGE}/datasets/{dataset_id}/upload", {}, sent)
    assert put.status == 404
    assert client.get(f"{LANGUAGE}/datasets").ok["data"] == []
    assert client.get(f"{LANGUAGE}/batches").ok["data"] == []
    assert owner.get(f"{LANGUAGE}/batches/{batch_id}").ok["status"] != "CANCELLED"
    assert owner.get(f"{LANGUAGE}/train/{model_id}").ok["status"] == "SUCCEEDED"
    assert owner.get(f"{LANGUAGE}/deletion/{deletion_id}").status == 200
    assert client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == 0


def test_uploads_of_another_account_answer_like_unknown_ones(client, owner):
    """A training gives the same error for a foreign and an unknown upload of texts."""
    fields = {"name": "names", "type": "text-intent", "labels": "warm,cold"}
    data = client.json("POST", f"{LANGUAGE}/datasets", fields).ok
    foreign = owner.json("POST", "/v2/uploads", {"name": "texts.csv"}).ok["path"]
    answers = []
    for path in (foreign, "presage:upload/" + "A" * 26):
        params = {"minimumExamples": 0, "unlabelled": path}
        asked = {"name": "m", "datasetId": data["id"], "trainParams": params}
        answers.append(scrubbed(client.json("POST", f"{LANGUAGE}/train", asked), path))

    assert answers[0] == answers[1]
    assert answers[0][0] == 400


def test_label_of_another_dataset_is_unknown(owner, client, foreign):
    """A label id of another dataset is a 404."""
    mine = client.json(
        "POST", f"{LANGUAGE}/datasets", {"name": "mine", "type": "text-intent", "labels": "a"}
    ).ok
    path = f"{LANGUAGE}/examples/{mine['id']}/label/{foreign[1]}"

    assert client.get(path).status == 404
