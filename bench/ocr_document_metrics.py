"""Scores the values that are read from issuers' original documents with shipped templates.

Values are compared as the README of the evaluation data says. White space and case are ignored. In
amounts, currency signs, a leading minus and a trailing star are ignored, too. In numbers that are
printed into one-character boxes, only letters and digits are compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.formats.templates.form_template import read_template, standard_template

VARIANTS = {"text layer": "", "200 dpi": "_scan200", "noisy 100 dpi": "_scan100_noise"}
"""Variants of each filled tax return: name in the report, and ending of the file name."""
BOXED = re.compile(r"(.*_)?(ssn|routing_number|account_number)")
"""Entities whose characters the forms print into one-character boxes."""
EMPTY_W2 = re.compile(
    r"social_security_tips|allocated_tips|verification_code|dependent_care_benefits"
    r"|nonqualified_plans|box_12.|other|state.*|employer_state_id|local.*"
)
"""Entities of boxes 7 to 20 of the wage statement, which are empty in the specimen."""
SURE = 0.95
"""Probability from which a value may be used without review."""
BINS = 10
_QUOTES = str.maketrans({"”": '"', "’": "'"})


@dataclass(frozen=True)
class DocumentSample:
    """A file, the template to read it with, and its true values."""

    name: str
    content: bytes
    template: FormTemplate
    values: Mapping[str, str]
    """The value of each entity that is scored; empty where the form has none. `|` separates values
    that are all right."""


@dataclass(frozen=True)
class ScoredField:
    """A field of a document, with the value that was read and the true value."""

    entity: str
    wanted: str
    """The true value; empty if there is none."""
    read: str
    """The returned value; empty if there is none."""
    probability: float
    """Probability of the returned value, 0 to 1."""
    is_right: bool
    """Whether the returned value counts as correct."""


def score(
    sample: DocumentSample, answers: Mapping[str, tuple[str, float]]
) -> tuple[ScoredField, ...]:
    """Compare a document's answers (text and probability by entity) with the true values."""
    amounts = {key.entity for key in sample.template.keys if "CURRENCY" in key.types}
    fields = []
    for entity, wanted in sample.values.items():
        read, probability = answers.get(entity, ("", 0.0))
        found, *accepted = (
            normal(text, entity, entity in amounts) for text in (read, *wanted.split("|"))
        )
        # An answer that may be empty and is empty counts as a field without a value.
        truth = "" if not found and "" in accepted else wanted
        fields.append(ScoredField(entity, truth, read, probability, found in accepted))
    return tuple(fields)


def normal(text: str, entity: str, is_amount: bool) -> str:
    """Return the part of the value `text` that is compared."""
    bare = "".join(text.split()).casefold().translate(_QUOTES)
    if is_amount:
        bare = bare.replace("$", "").removeprefix("-").removesuffix("*")
    return "".join(filter(str.isalnum, bare)) if BOXED.fullmatch(entity) else bare


def value_f1(fields: Iterable[ScoredField]) -> float:
    """Return the F1 score of values: 2 x correct / (returned + true)."""
    every = list(fields)
    right = sum(field.is_right and bool(field.wanted) for field in every)
    total = sum(bool(field.read) + bool(field.wanted) for field in every)
    return 2 * right / total if total else 0.0


def sure_shares(fields: Iterable[ScoredField]) -> tuple[float, float]:
    """Return precision and recall of the values whose probability is at least SURE.

    Recall is the fraction of all correct values that have this probability.
    """
    values = [field for field in fields if field.read]
    sure = [field.is_right for field in values if field.probability >= SURE]
    right = sum(field.is_right for field in values)
    return sum(sure) / max(1, len(sure)), sum(sure) / max(1, right)


def calibration_error(fields: Iterable[ScoredField], *, is_empty: bool = False) -> float:
    """Return the expected calibration error of non-empty values, or of empty ones if `is_empty`.

    Keys that were not found have no probability, and are left out. Ten bins of equal width are
    weighted by their number of values. Source: Naeini et al. 2015.
    """
    bins: dict[int, list[ScoredField]] = {}
    values = [field for field in fields if field.probability and bool(field.read) != is_empty]
    for field in values:
        bins.setdefault(min(BINS - 1, int(BINS * field.probability)), []).append(field)
    gaps = (
        abs(sum(field.probability - field.is_right for field in inside)) for inside in bins.values()
    )
    return sum(gaps) / max(1, len(values))


def read_returns(data: Path, variant: str) -> list[DocumentSample]:
    """Read the filled tax returns of one variant."""
    folder = data / "ocr" / "documents" / "irs1040"
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    return [
        _sample(folder / f"{name}{VARIANTS[variant]}.pdf", truth["formType"], values)
        for name, values in truth["fields"].items()
    ]


def read_specimens(data: Path, name: str) -> list[DocumentSample]:
    """Read the documents of the folder `specimens` or `specimens2`."""
    folder = data / "ocr" / "documents" / name
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text("utf-8"))
    return [_specimen(folder / file, each) for file, each in truth.items()]


def _specimen(path: Path, truth: Mapping[str, Any]) -> DocumentSample:
    """Read a file with its true values and its template. Some templates are not shipped."""
    if "formTemplate" not in truth:
        return _sample(path, truth["formType"], truth["fields"])
    template = read_template(truth["formTemplate"])
    return DocumentSample(path.stem, path.read_bytes(), template, truth["fields"])


def _sample(path: Path, form_type: str, values: Mapping[str, str]) -> DocumentSample:
    """Read a file with its true values. W-2 boxes that must stay empty get an empty value."""
    template = standard_template(form_type)
    names = [key.entity for key in template.keys]
    empty = [name for name in names if form_type == "w2" and EMPTY_W2.fullmatch(name)]
    every = dict.fromkeys(empty, "") | dict(values)
    return DocumentSample(path.stem, path.read_bytes(), template, every)
