"""Calls that are not supported but say where to go instead."""

from __future__ import annotations

import pytest

LANGUAGE = "/v2/language"


def test_root_leads_to_the_docs(client):
    """The root URL redirects to the docs."""
    answer = client.send("GET", "/")

    assert answer.status == 302
    assert answer.headers["location"] == "/v2/docs"
    assert client.send("GET", answer.headers["location"]).status == 200


@pytest.mark.parametrize(
    ("path", "card"),
    [
        (f"{LANGUAGE}/models/CommunitySentiment", f"{LANGUAGE}/models/CommunitySentiment/card"),
        (f"{LANGUAGE}/models/CommunitySentiment/lc", f"{LANGUAGE}/models/CommunitySentiment/card"),
        (f"{LANGUAGE}/train/CommunitySentiment", f"{LANGUAGE}/models/CommunitySentiment/card"),
        ("/v2/vision/train/SceneClassifier", "/v2/vision/models/SceneClassifier/card"),
        ("/v2/vision/models/OCRModel", "/v2/vision/models/OCRModel/card"),
    ],
)
def test_prebuilt_models_name_their_card(client, path, card):
    """A prebuilt model has no metrics or training; the error names its card."""
    answer = client.send("GET", path)

    assert (answer.status, answer.data["code"]) == (404, "model_not_found")
    assert f"GET {card}" in answer.data["message"]


@pytest.mark.parametrize("path", ["entities", "ner"])
@pytest.mark.parametrize("fields", [{"document": "Ann lives in Rome", "modelId": "x"}, {}])
def test_named_entities_are_not_offered(client, path, fields):
    """The former beta for named entities is a 404 that says it is not available."""
    answer = client.json("POST", f"{LANGUAGE}/{path}", fields)

    assert (answer.status, answer.data["code"]) == (404, "not_offered")
    assert "Named entity recognition is not supported" in answer.data["message"]
