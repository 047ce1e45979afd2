"""How well fields of forms are found: templates and values of the evaluation forms, and F1.

A value counts when it is exact but for white space, which the truth of the scanned forms has in
odd places ("9/ 3/ 92"). A key without a value counts when it was found with an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ocr_document_metrics import ScoredField
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey


@dataclass(frozen=True)
class FormSample:
    """One form, what to look for, and what is there."""

    name: str
    content: bytes
    """The picture's file."""
    template: FormTemplate
    values: Mapping[str, str]
    """The value of each entity; empty when the key has none."""


@dataclass(frozen=True)
class FieldCounts:
    """Fields of forms: those found as they are, all that were found, all that are there."""

    right: int
    found: int
    wanted: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        return 2 * self.right / (self.found + self.wanted) if self.wanted else 0.0

    def __add__(self, other: FieldCounts) -> FieldCounts:
        """Return the counts of both."""
        return FieldCounts(
            self.right + other.right, self.found + other.found, self.wanted + other.wanted
        )


def compare_fields(sample: FormSample, fields: Iterable[FormField]) -> FieldCounts:
    """Count the fields of one form whose values are exact."""
    found = {field.entity: field.value_text for field in fields}
    right = sum(
        entity in found and _bare(found[entity]) == _bare(value)
        for entity, value in sample.values.items()
    )
    return FieldCounts(right, len(found), len(sample.values))


def score_fields(sample: FormSample, fields: Iterable[FormField]) -> Iterator[ScoredField]:
    """Yield what became of the fields of one form, for how much their probabilities are worth."""
    for field in fields:
        wanted, read = sample.values[field.entity], field.value_text
        is_right = _bare(read) == _bare(wanted)
        yield ScoredField(field.entity, wanted, read, field.probability, is_right)


def total(counts: Sequence[FieldCounts]) -> FieldCounts:
    """Add up the counts of several forms."""
    return sum(counts, FieldCounts(0, 0, 0))


def _bare(text: str) -> str:
    """Remove all white space."""
    return "".join(text.split())


def read_rendered_forms(data: Path) -> list[FormSample]:
    """Read the forms that were drawn; a template has every variation of every key."""
    samples = []
    for path in sorted((data / "ocr" / "rendered" / "forms").glob("*.json")):
        fields = json.loads(path.read_text("utf-8"))["fields"]
        keys = tuple(TemplateKey(each["entity"], tuple(each["variations"])) for each in fields)
        values = {each["entity"]: each["value"] for each in fields}
        content = path.with_suffix(".png").read_bytes()
        samples.append(FormSample(path.stem, content, FormTemplate(keys), values))
    return samples


def read_scanned_forms(data: Path) -> list[FormSample]:
    """Read the scanned forms: each linked question is a key, as it is written."""
    samples = []
    for path in sorted((data / "ocr" / "funsd").glob("*.json")):
        found = _questions(json.loads(path.read_text("utf-8"))["form"])
        keys = tuple(TemplateKey(entity, (text,)) for entity, text, _ in found)
        values = {entity: value for entity, _, value in found}
        content = path.with_suffix(".png").read_bytes()
        samples.append(FormSample(path.stem, content, FormTemplate(keys), values))
    return samples


def _questions(form: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return number, text and answers of each question that is linked to anything."""
    by_id = {entity["id"]: entity for entity in form}
    found = []
    for entity in form:
        text = " ".join(entity["text"].split())
        others = {one for link in entity["linking"] for one in link} - {entity["id"]}
        answers = [by_id[one] for one in others if by_id[one]["label"] == "answer"]
        if entity["label"] == "question" and text and entity["linking"]:
            value = " ".join(answer["text"] for answer in _in_order(answers))
            found.append((str(entity["id"]), text, " ".join(value.split())))
    return found


def _in_order(answers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort answers into rows from the top, each from the left."""
    rows: list[list[Mapping[str, Any]]] = []
    for answer in sorted(answers, key=lambda each: each["box"][1] + each["box"][3]):
        middle = (answer["box"][1] + answer["box"][3]) / 2
        if rows and rows[-1][0]["box"][1] <= middle <= rows[-1][0]["box"][3]:
            rows[-1].append(answer)
        else:
            rows.append([answer])
    return [answer for row in rows for answer in sorted(row, key=lambda each: each["box"][0])]
