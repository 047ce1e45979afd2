"""The document is good enough for machines: what is generated from it calls the service."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flows.world import WEATHER

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "chalicelib" / "assets" / "samples" / "sample_page.png"
EVERY = """
import importlib, pkgutil, generated.api as api
for found in pkgutil.walk_packages(api.__path__, "generated.api."):
    if not found.ispkg:
        print(callable(importlib.import_module(found.name).sync_detailed))
"""


def test_no_operation_is_left_out(generated):
    """The generator warns of nothing, and each operation is a module that can be loaded."""
    assert "warning" not in generated.said.lower()
    ran = generated.run("-c", EVERY)
    operations = sum(len(path) for path in generated.document["paths"].values())
    assert (ran.stdout.split(), ran.stderr) == (["True"] * operations, "")


def test_a_newcomer_gets_from_a_token_to_a_prediction(generated, live):
    """Token, upload, training, prediction, lists and reading give what the own client gets."""
    email = "generated@example.test"
    live.caller("generated")
    script = str(Path(__file__).with_name("calls.py"))
    ran = generated.run(script, live.url, live.assertion(sub=email), str(WEATHER), str(PAGE))
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said == {
        "kept": 73,
        "status": "SUCCEEDED",
        "label": "five-day-forecast",
        "examples": ["current-weather"] * 3,
        "datasets": [True],
        "used": 1,
        "contacts": ["ContactRecord", said["contacts"][1]],
    }
    assert said["contacts"][1] > 3
