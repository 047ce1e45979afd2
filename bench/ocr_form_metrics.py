"""Reads templates and true values of the evaluation forms, and scores fields by F1.

White space is ignored when values are compared, because the true values of scanned forms have odd
spaces ("9/ 3/ 92"). If a key has no true value, an empty value counts as correct.
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
    """A form, its template, and its true values."""

    name: str
    content: bytes
    """The bytes of the image file."""
    template: FormTemplate
    values: Mapping[str, str]
    """The true value of each entity; empty if the key has none."""


@dataclass(frozen=True)
class FieldCounts:
    """Numbers of correct fields, of found fields and of true fields."""

    right: int
    found: int
    wanted: int

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, 0 to 1."""
        return 2 * self.right / (self.found + self.wanted) if self.wanted else 0.0

    def __add__(self, other: FieldCounts) -> FieldCounts:
        return FieldCounts(
            self.right + other.right, self.found + other.found, self.wanted + other.wanted
        )


def compare_fields(sample: FormSample, fields: Iterable[FormField]) -> FieldCounts:
    """Count the correct fields, the found fields and the true fields of one form."""
    found = {field.entity: field.value_text for field in fields}
    right = sum(
        entity in found and _bare(found[entity]) == _bare(value)
        for entity, value in sample.values.items()
    )
    return FieldCounts(right, len(found), len(sample.values))


def score_fields(sample: FormSample, fields: Iterable[FormField]) -> Iterator[ScoredField]:
    """Yield each field of a form with its true value, and whether the value read is correct."""
    for field in fields:
        wanted, read = sample.values[field.entity], field.value_text
        is_right = _bare(read) == _bare(wanted)
        yield ScoredField(field.entity, wanted, read, field.probability, is_right)


def total(counts: Sequence[FieldCounts]) -> FieldCounts:
    """Add up the counts of several forms."""
    return sum(counts, FieldCounts(0, 0, 0))


def _bare(text: str) -> str:
    return "".join(text.split())


def read_rendered_forms(data: Path) -> list[FormSample]:
    """Read the drawn forms. The template of a form has all spellings of all keys."""
    samples = []
    for path in sorted((data / "ocr" / "rendered" / "forms").glob("*.json")):
        fields = json.loads(path.read_text("utf-8"))["fields"]
        keys = tuple(TemplateKey(each["entity"], tuple(each["variations"])) for each in fields)
        values = {each["entity"]: each["value"] for each in fields}
        content = path.with_suffix(".png").read_bytes()
        samples.append(FormSample(path.stem, content, FormTemplate(keys), values))
    return samples


def read_scanned_forms(data: Path) -> list[FormSample]:
    """Read the scanned forms. Each question with a link to an answer becomes a key."""
    samples = []
    for path in sorted((data / "ocr" / "funsd").glob("*.json")):
        found = _questions(json.loads(path.read_text("utf-8"))["form"])
        keys = tuple(TemplateKey(entity, (text,)) for entity, text, _ in found)
        values = {entity: value for entity, _, value in found}
        content = path.with_suffix(".png").read_bytes()
        samples.append(FormSample(path.stem, content, FormTemplate(keys), values))
    return samples


def _questions(form: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return id, text and answers of each question that is linked to an answer."""
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
    """Sort answers by row from top to bottom, and within a row from left to right."""
    rows: list[list[Mapping[str, Any]]] = []
    for answer in sorted(answers, key=lambda each: each["box"][1] + each["box"][3]):
        middle = (answer["box"][1] + answer["box"][3]) / 2
        if rows and rows[-1][0]["box"][1] <= middle <= rows[-1][0]["box"][3]:
            rows[-1].append(answer)
        else:
            rows.append([answer])
    return [answer for row in rows for answer in sorted(row, key=lambda each: each["box"][0])]
