"""Tests of bench/ocr_form_metrics.py."""

from __future__ import annotations

import json
from pathlib import Path

from bench.ocr_form_metrics import (
    FieldCounts,
    FormSample,
    compare_fields,
    read_rendered_forms,
    read_scanned_forms,
    score_fields,
    total,
)
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate


def _field(entity: str, value: str) -> FormField:
    """Return a field with a value."""
    return FormField(entity, entity, None, value, None, 1.0)


def test_values_count_when_exact_but_for_white_space() -> None:
    """An empty value that was found empty is right, a missing key is not."""
    sample = FormSample("f", b"", FormTemplate(()), {"a": "9/ 3/ 92", "b": "", "c": "", "d": "X"})

    counts = compare_fields(sample, [_field("a", "9/3/92"), _field("b", ""), _field("d", "x")])

    assert counts == FieldCounts(2, 3, 4)
    assert counts.f1 == 4 / 7
    assert total([counts, counts]) == FieldCounts(4, 6, 8)


def test_probabilities_are_scored_as_values_are_compared() -> None:
    """A value that differs in white space alone is right; another one is not."""
    sample = FormSample("f", b"", FormTemplate(()), {"a": "9/ 3/ 92", "b": "X"})

    scored = list(score_fields(sample, [_field("a", "9/3/92"), _field("b", "Y")]))

    assert [(each.entity, each.is_right, each.probability) for each in scored] == [
        ("a", True, 1.0),
        ("b", False, 1.0),
    ]


def test_forms_are_read_from_their_files(tmp_path: Path) -> None:
    """Questions get their answers row by row; drawn forms all variations."""
    folder = tmp_path / "ocr" / "funsd"
    folder.mkdir(parents=True)
    (folder / "1.png").write_bytes(b"p")

    def entity(number: int, label: str, text: str, box: list[int], *links: int) -> dict:
        return {
            "id": number,
            "label": label,
            "text": text,
            "box": box,
            "linking": [[number, link] for link in links],
        }

    form = [
        entity(1, "question", "To:", [0, 0, 10, 10], 2, 3, 4),
        entity(2, "answer", "c", [20, 20, 30, 30]),
        entity(3, "answer", "b", [40, 1, 50, 11]),
        entity(4, "answer", "a", [20, 0, 30, 10]),
        entity(5, "question", "Alone", [0, 50, 10, 60]),
    ]
    (folder / "1.json").write_text(json.dumps({"form": form}))
    folder = tmp_path / "ocr" / "rendered" / "forms"
    folder.mkdir(parents=True)
    (folder / "f.png").write_bytes(b"p")
    fields = [{"entity": "dob", "variations": ["DOB", "Born"], "value": "today"}]
    (folder / "f.json").write_text(json.dumps({"fields": fields}))

    (scanned,), (drawn,) = read_scanned_forms(tmp_path), read_rendered_forms(tmp_path)

    assert scanned.values == {"1": "a b c"}
    assert scanned.template.keys[0].variations == ("To:",)
    assert drawn.values == {"dob": "today"}
    assert drawn.template.keys[0].variations == ("DOB", "Born")
