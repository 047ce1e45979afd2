"""Checks values against each other and against the usual format of their entity.

A sum hardly ever holds by chance, and few texts have the format of a social security number. Sums
are listed in assets/forms/sums.json, and formats in the shipped templates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.field_kinds import has_span, is_one_line, span_of

SUMS = Path(__file__).parents[3] / "assets" / "forms" / "sums.json"
_CENTS = re.compile(r"[.,]\d\d\D*$")


class _Sum(msgspec.Struct):
    sum: str
    """Entity of the sum."""
    terms: dict[str, float]
    """Factor of each entity that is added; entities without a value are left out."""
    least: float = 100
    """Minimum sum in cents, because smaller sums can hold by chance."""
    slack: float = 0.5
    """Maximum difference in cents. It is larger for taxes that are rounded at each payment."""


@cache
def _sums() -> tuple[_Sum, ...]:
    return msgspec.json.decode(SUMS.read_bytes(), type=tuple[_Sum, ...])


def agreeing_entities(values: Mapping[str, str]) -> frozenset[str]:
    """Return the entities whose amounts add up; `values` has the value of each entity."""
    amounts = {
        entity: cents
        for entity, text in values.items()
        if _has_format(("CURRENCY",), text) and (cents := _cents(text))
    }
    return frozenset(entity for check in _sums() for entity in _agreeing(check, amounts))


def _agreeing(check: _Sum, amounts: Mapping[str, int]) -> list[str]:
    """Return the entities of a sum that adds up; none if it is tiny or repeats its only amount."""
    known = [entity for entity in check.terms if entity in amounts]
    total = sum(check.terms[entity] * amounts[entity] for entity in known)
    result = amounts.get(check.sum, 0)
    is_evidence = result >= check.least and (len(known) > 1 or total not in amounts.values())
    holds = known and is_evidence and abs(total - result) <= min(check.slack, result / check.least)
    return [check.sum, *known] if holds else []


def _cents(amount: str) -> int:
    """Return an amount in cents without its sign; payments are often printed as `-50,00`."""
    amount = amount[-settings.LONGEST_TYPED_CHARACTERS :]
    digits = int("".join(filter(str.isdecimal, amount)))
    return digits if _CENTS.search(amount) else 100 * digits


class PageFormats:
    """Counts how many texts of a page have the same format as a value."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Count the formats of `texts`, the texts of the page that may be values."""
        self._texts = texts
        self._counts: dict[object, int] = {}

    def rarity(self, key: TemplateKey, value: str) -> float | None:
        """Return how rare the format of a value is: log((texts + 1) / texts with this format).

        Return 0 if no format is known for the key, and None if the value has another format.
        """
        expected = key.format or key.types
        if not isinstance(expected, str) and not is_one_line(expected):
            return 0.0
        if not _has_format(expected, value):
            return None
        if expected not in self._counts:
            self._counts[expected] = sum(_has_format(expected, text) for text in self._texts)
        return math.log((len(self._texts) + 1) / max(1, self._counts[expected]))


def _has_format(expected: str | Sequence[str], text: str) -> bool:
    """Return whether a whole text matches `expected`, a regular expression or a list of types."""
    if isinstance(expected, str):
        return re.fullmatch(expected, text, re.IGNORECASE) is not None
    return has_span(expected, text) and span_of(expected, text) is None
