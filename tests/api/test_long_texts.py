"""Texts longer than the model reads are reported by receipt, card and explanation."""

from __future__ import annotations

from chalicelib.domain.datasets.windows import READ_WORDS

URL = "/v2/language"


def test_cut_texts_are_reported(call, world):
    """Receipt and card count truncated texts, and an explanation marks the unread words."""
    long = " ".join(f"word{number}" for number in range(READ_WORDS + 60))
    rows = [f"{label} please number {n},{label}" for label in ("pay", "send") for n in range(8)]
    rows.append(f"pay {long},pay")
    made = call.form(
        "POST",
        f"{URL}/datasets/upload/sync",
        ("data", "\n".join(["text,label", *rows]).encode(), "a.csv"),
        ("type", b"text-intent", None),
    ).json
    [receipt] = call("GET", f"{URL}/datasets/{made['id']}/receipts").json["data"]
    [warning] = [one for one in receipt["warnings"] if one["code"] == "textsCut"]
    assert warning["count"] == 1
    assert "more than 1,200 words" in warning["message"]

    trained = call.json("POST", f"{URL}/train", datasetId=made["id"], name="long").json
    world.work()
    model_id = trained["modelId"]
    card = call("GET", f"{URL}/models/{model_id}/card").json
    assert [one["precision"] for one in card["thresholds"]] == [0.9, 0.95, 0.99]
    assert isinstance(card["advice"], list)
    assert card["textLimit"] == {"words": READ_WORDS, "cut": 1}

    asked = {"modelId": model_id, "document": f"pay {long}", "explain": True}
    parts = call.json("POST", f"{URL}/intent", **asked).json["explanation"]
    assert parts[-1]["isRead"] is False
    assert parts[-1]["share"] == 0
    assert "isRead" not in parts[0]
