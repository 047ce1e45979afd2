"""What is written from something else is as that is now."""

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
    """A member that the service adds and the client does not know fails here."""
    assert client_records.FILE.read_text("utf-8") == client_records.source()


def test_synchronous_client_is_written_from_the_asynchronous_one():
    """No code of the two clients is written twice by hand."""
    command = [sys.executable, ROOT / "client" / "tools" / "write_sync.py", "--check"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_answers_of_the_contract_are_read(name, kind):
    """Each answer of the contract becomes a record, and is kept whole in `raw`."""
    members = json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))
    for item in members.get("data", [members]) if "data" in members else [members]:
        assert decode(item, kind).raw == item


def test_unknown_members_are_kept():
    """What a newer service adds is readable, though this version does not know its name."""
    members = {"label": "a", "probability": 0.5, "later": [1]}
    assert decode(members, records.Probability).raw["later"] == [1]


def test_fields_and_tables_of_a_form_are_told_apart():
    """A form's answer gives its pairs and its tables as typed records."""
    found = decode(json.loads((EXAMPLES / "ocr_form.json").read_text()), results.FormResult)
    assert found.fields[0].attributes.key.entity
    assert len(found.fields) + len(found.tables) == len(found.probabilities)
