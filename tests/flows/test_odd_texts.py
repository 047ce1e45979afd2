"""Unusual texts and labels are trained and predicted by the real encoders."""

from __future__ import annotations

import json

import pytest

ODD_TEXTS = (
    "a",
    "文",
    "😀",
    "👨‍👩‍👧‍👦🏳️‍🌈",
    "مرحبا كيف حالك",
    "\u202eשלום עולם",
    "Z" + "\u0300" * 3_000,
    "\u0301",
    "!!!???...",
    "\u200b\u200d\ufeff",
    "नमस्ते",
    "สวัสดี",
    "x" * 20_000,
    "\x01\x02",
    "\u2028\u2029",
    "\ufffe\U0010ffff",
)
ODD_LABELS = (
    "../../etc/passwd",
    '{"x": [1]}',
    "007",
    "7",
    "null",
    "Label",
    "label",
    "__proto__",
    "a,b",
    "L" * 180,
    "\ufb01n",
    "\u00e9t\u00e9",
)
FAST = {"profile": "fast"}


def _json(rows):
    """Write texts and labels as a file."""
    return json.dumps([{"text": text, "label": label} for text, label in rows]).encode()


def test_odd_texts_and_labels_are_trained_and_answered(owner):
    """Every label is returned as sent, in every record, and every text gets a prediction."""
    plain = [
        (f"question {number} of group {label}", label) for label in range(12) for number in range(5)
    ]
    rows = [(text, ODD_LABELS[label]) for text, label in plain]
    odd = [(text, "odd\u00a0ones") for text in ODD_TEXTS if not text.isspace()]
    dataset = owner.dataset(_json(rows + odd), file_name="odd.json")
    labels = [*ODD_LABELS, "odd\u00a0ones"]

    model = owner.model(dataset["id"], trainParams=FAST)

    metrics = owner.get(f"/v2/language/models/{model}").ok["metricsData"]
    assert dataset["totalExamples"] == len(rows) + len(odd)
    assert metrics["labels"] == labels
    assert sorted(metrics["threshold"]) == sorted(labels)
    for text, _ in odd:
        answers = owner.predict(model, text).ok["probabilities"]
        assert sorted(answer["label"] for answer in answers) == sorted(labels)
        assert sum(answer["probability"] for answer in answers) == pytest.approx(1, abs=1e-4)


def test_contradictory_labels_are_flagged_and_reported(owner):
    """Texts with two labels get even probabilities, chance accuracy, and are flagged by id."""
    texts = [f"the {word} is number {place}" for place, word in enumerate(ODD_LABELS * 2)]
    dataset = owner.dataset(_json([(text, label) for text in texts for label in ("yes", "no")]))

    model = owner.model(dataset["id"], trainParams=FAST)

    probabilities = owner.predict(model, texts[0]).ok["probabilities"]
    assert [one["probability"] for one in probabilities] == pytest.approx([0.5, 0.5], abs=0.01)
    card = owner.get(f"/v2/language/models/{model}/card").ok
    assert card["metrics"]["testAccuracy"]["value"] == 0.5
    path = f"/v2/language/datasets/{dataset['id']}/examples"
    known = {one["id"]: (one["name"], one["label"]["name"]) for one in owner.items(path)}
    pairs = card["dataReport"]["conflictingNearDuplicates"]
    assert len(pairs) == len(texts)
    for pair in pairs:
        found = [known[one["id"]] for one in pair["examples"]]
        assert found == [(one["text"], one["label"]) for one in pair["examples"]]
        assert found[0][0] == found[1][0]
        assert found[0][1] != found[1][1]
    for entry in card["dataReport"]["likelyLabelErrors"]:
        assert (entry["text"], entry["label"]) == known[entry["id"]]


def test_feedback_comes_while_a_training_runs(owner):
    """Feedback during a training disturbs neither; the next training includes it."""
    rows = [(f"{word} question {number}", word) for word in ("sun", "rain") for number in range(30)]
    dataset = owner.dataset(_json(rows))
    model = owner.model(dataset["id"], trainParams=FAST)
    again = {"modelId": model, "trainParams": {**FAST, "withFeedback": True}}

    assert owner.json("POST", "/v2/language/retrain", again).status == 200
    for number in range(10):
        sent = {"modelId": model, "document": f"wet {number}", "expectedLabel": "rain"}
        assert owner.json("POST", "/v2/language/feedback", sent).status == 200
        assert owner.predict(model, "sun").status == 200
    first = owner.wait_model(model)
    assert owner.json("POST", "/v2/language/retrain", again).status == 200
    second = owner.wait_model(model)

    assert (first["status"], second["status"]) == ("SUCCEEDED", "SUCCEEDED")
    assert 60 <= first["trainStats"]["examples"] <= 70
    assert second["trainStats"]["examples"] == 70
