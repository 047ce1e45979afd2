"""Predictions that fail or meet a limit, for each function that predicts."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.api.conftest import Answer
from tests.pictures import draw, label_folders, make_zip
from tests.policies.deployed import Caller
from tests.policies.flows import FILE, LANGUAGE, VISION, arrived, trained

UNKNOWN_MODEL = "A" * 26
"""Id that no model has."""
Ask = Callable[[str], Answer]
"""Asks a model."""


def questions(caller: Caller) -> None:
    """Request every kind of prediction that can fail, from models of both families."""
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    caller.deployed.work()

    def ask_text(model: str) -> Answer:
        """Ask for the label of a text."""
        body = json.dumps({"modelId": model, "document": "book please"}).encode()
        return caller.send("POST", f"{LANGUAGE}/intent", body, "application/json")

    hard(caller, LANGUAGE, data["id"], ask_text)
    bad = caller.send("POST", f"{LANGUAGE}/intent", b"{", "application/json")
    assert bad.status == 400
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=70)), "a.zip")
    data = caller.form("POST", f"{VISION}/datasets/upload", archive)
    caller.deployed.work()

    def ask_picture(model: str) -> Answer:
        """Predict an image that was uploaded to the bucket."""
        sent = arrived(caller, draw())
        return caller.try_form("POST", f"{VISION}/predict", modelId=model, sampleLocation=sent)

    hard(caller, VISION, data["id"], ask_picture)
    bad = caller.send("POST", f"{VISION}/predict", b"{", "application/json")
    assert bad.status == 400


def hard(caller: Caller, family: str, dataset_id: int, ask: Ask) -> None:
    """Use an unknown model, one without its file, and a month's last predictions."""
    deployed = caller.deployed
    assert ask(UNKNOWN_MODEL).status == 404
    gone = trained(caller, family, dataset_id)
    deployed.lose_files(f"models/{gone}/")
    assert ask(gone).status == 503
    model = trained(caller, family, dataset_id)
    for percent in (80, 100):
        deployed.use(caller.account, percent)
        assert ask(model).status == 200
        caller.json("PUT", caller.hook, enabled=True)
    assert ask(model).status == 429
    deployed.use(caller.account, 0)
