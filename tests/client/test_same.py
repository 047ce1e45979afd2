"""Tests that generated files are up to date, and that records decode responses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from presage import records, results
from presage._records import decode

from infra import client_records

ROOT = client_records.FILE.parents[3]
EXAMPLES = Path(__file__).parents[1] / "spec" / "examples"
KINDS = {
    "apiusage": records.Usage,
    "card_intent": records.Card,
    "dataset_list": records.Dataset,
    "deletion_queued_dataset": records.Deletion,
    "detect": records.Detection,
    "example_list_vision": records.Example,
    "health": records.Health,
    "intent": results.Prediction,
    "learningcurve_detection": records.LearningCurve,
    "metrics_intent": records.Metrics,
    "model_list_language": records.Model,
    "ocr_contact": records.ContactResult,
    "ocr_form": results.FormResult,
}


def test_records_of_the_client_are_those_of_the_service():
    """The client's records equal those generated from the service."""
    assert client_records.FILE.read_text("utf-8") == client_records.source()


def test_synchronous_client_is_up_to_date():
    """The synchronous client equals the one generated from the asynchronous one."""
    command = [sys.executable, ROOT / "client" / "tools" / "write_sync.py", "--check"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_answers_of_the_contract_are_read(name, kind):
    """Each response of the contract becomes a record, and `raw` has the whole of it."""
    members = json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))
    for item in members.get("data", [members]) if "data" in members else [members]:
        assert decode(item, kind).raw == item


def test_unknown_members_are_kept():
    """Members that this version does not know are readable in `raw`."""
    members = {"label": "a", "probability": 0.5, "later": [1]}
    assert decode(members, records.Probability).raw["later"] == [1]


def test_forms_have_typed_fields_and_tables():
    """The result of a form has its fields and tables as typed records."""
    found = decode(json.loads((EXAMPLES / "ocr_form.json").read_text()), results.FormResult)
    assert found.fields[0].attributes.key.entity
    assert len(found.fields) + len(found.tables) == len(found.probabilities)
