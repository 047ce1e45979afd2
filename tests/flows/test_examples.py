"""Single examples, feedback, and the monthly limit of calls that return examples."""

from __future__ import annotations

import pytest

from tests.flows.client import LANGUAGE
from tests.flows.world import weather

CALLS = 30


def texts(answer):
    """Return the texts of a page."""
    return [item["name"] for item in answer.ok["data"]]


@pytest.fixture
def empty(client):
    """A dataset that was created without a file."""
    fields = {"name": "by hand", "type": "text-intent", "labels": "hot,cold"}
    return client.json("POST", f"{LANGUAGE}/datasets", fields).ok


def test_empty_dataset_is_filled_by_hand(client, empty):
    """Examples are added by label id or name; a new name creates a label."""
    path = f"{LANGUAGE}/datasets/{empty['id']}/examples"
    hot, cold = empty["labelSummary"]["labels"]
    first = client.json("POST", path, {"document": "boiling", "labelId": hot["id"]}).ok
    client.multipart("POST", path, {"document": "  ice \n", "label": "cold"})
    client.json("POST", path, {"document": "lukewarm", "label": "mild"})
    done = client.get(f"{LANGUAGE}/datasets/{empty['id']}").ok
    listed = client.get(path)

    assert (first["name"], first["location"], first["label"]["name"]) == (
        "boiling",
        "boiling",
        "hot",
    )
    assert empty["available"] is True
    assert [(item["name"], item["numExamples"]) for item in done["labelSummary"]["labels"]] == [
        ("hot", 1),
        ("cold", 1),
        ("mild", 1),
    ]
    assert texts(listed) == ["boiling", "  ice \n", "lukewarm"]
    by_label = client.get(f"{LANGUAGE}/examples/{empty['id']}/label/{cold['id']}")
    by_place = client.get(f"{LANGUAGE}/examples/{empty['id']}/label/1")
    old = client.get(f"{LANGUAGE}/examples", labelId=cold["id"])
    assert texts(by_label) == texts(by_place) == texts(old) == ["  ice \n"]
    assert "deprecation" in old.headers
    assert "deprecation" not in by_label.headers


def test_dataset_made_by_hand_takes_no_file(client, empty):
    """PUT with a file needs a dataset that was created from a file."""
    path = f"{LANGUAGE}/datasets/{empty['id']}/upload"
    answer = client.multipart("PUT", path, {}, {"data": ("weather.csv", weather())})

    assert answer.status == 400


def test_source_divides_uploaded_from_feedback(world):
    """The list shows uploads by default, feedback alone, or both, uploads first."""
    client = world.caller(example_calls=100)
    dataset_id = client.dataset(weather())["id"]
    model_id = client.model(dataset_id)
    fields = {"modelId": model_id, "document": "snow?", "expectedLabel": "current-weather"}
    client.json("POST", f"{LANGUAGE}/feedback", fields)
    path = f"{LANGUAGE}/datasets/{dataset_id}/examples"

    uploaded = [item["name"] for item in client.items(path)]
    feedback = [item["name"] for item in client.items(path, source="feedback")]
    everything = [item["name"] for item in client.items(path, source="all")]

    assert len(uploaded) == 73
    assert feedback == ["snow?"]
    assert everything == uploaded + feedback
    assert client.get(path, source="none").status == 400


def test_feedback_changes_the_answer_after_retraining(client):
    """A retraining with feedback changes the label of a corrected text."""
    dataset_id = client.dataset(weather())["id"]
    model_id = client.model(dataset_id)
    text = "is it raining"
    before = client.best(model_id, text)
    wanted = next(
        item["name"]
        for item in client.get(f"{LANGUAGE}/datasets/{dataset_id}").ok["labelSummary"]["labels"]
        if item["name"] != before
    )
    for shape in ("{}", "{}?", "{} ?", "hey, {}", "{} please", "tell me {}", "so {}", "{} now"):
        fields = {"document": shape.format(text), "modelId": model_id, "expectedLabel": wanted}
        sent = client.multipart("POST", f"{LANGUAGE}/feedback", {**fields, "name": "ignored"})
        assert sent.status == 200
    kept = client.best(model_id, text)
    again = {"modelId": model_id, "trainParams": {"withFeedback": "true"}}
    queued = client.json("POST", f"{LANGUAGE}/retrain", again).ok
    ended = client.wait_model(model_id)

    assert queued["modelId"] == model_id
    assert queued["status"] == "QUEUED"
    assert queued["trainParams"] == {"withFeedback": True}
    assert ended["status"] == "SUCCEEDED"
    assert ended["trainStats"]["examples"] == 81
    assert kept == before
    assert client.best(model_id, text) == wanted


def test_thirty_calls_a_month_return_examples(client, empty):
    """Failed calls do not count; the 31st call that would return examples is a 429."""
    path = f"{LANGUAGE}/datasets/{empty['id']}/examples"
    label_id = empty["labelSummary"]["labels"][0]["id"]
    routes = [
        (path, {}),
        (f"{LANGUAGE}/examples/{empty['id']}/label/{label_id}", {}),
        (f"{LANGUAGE}/examples", {"labelId": label_id}),
    ]
    for _ in range(5):
        assert client.get(path, offset=-1).status == 400
        assert client.get(f"{LANGUAGE}/datasets/1/examples").status == 404
    for number in range(CALLS):
        place, query = routes[number % len(routes)]
        assert client.get(place, **query).status == 200

    for place, query in routes:
        refused = client.get(place, **query)
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "30" in refused.data["message"]
    assert client.get(f"{LANGUAGE}/datasets/1/examples").status == 404
    assert client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == 0
