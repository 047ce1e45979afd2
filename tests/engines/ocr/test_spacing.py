"""Spaces that the recognizer left out."""

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.ink import Ink
from chalicelib.engines.ocr.phrases import find_gaps
from chalicelib.engines.ocr.spacing import with_spaces


def spaced(text, wide_before, wide=0.5, usual=0.4):
    """Return the spaced text of characters with narrow gaps and one wide gap."""
    spans, places, x = [], [], 0.0
    for index in range(len(text)):
        x += (wide if index == wide_before else 0.1) if index else 0
        spans.append((x, x + 0.5))
        places.append(x + 0.25)
        x += 0.5
    ink = Ink(0.0, 1.0, tuple((a / x, b / x) for a, b in spans), x)
    line = TextLine(text, 1.0, Rect(0, 0, 10 * x, 10), None, tuple(p / x for p in places))
    result = with_spaces(line, ink, find_gaps(line, ink), usual)
    assert len(result.places) == len(result.text)
    assert list(result.places) == sorted(result.places)
    return result.text


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("TAXINVOICE", 3, "TAX INVOICE"),
        ("Total:900", 6, "Total: 900"),
        ("Amount(RM)", 6, "Amount (RM)"),
        ("GSTID:000", 5, "GSTID :000"),
        ("12:30", 2, "12:30"),
        ("12:30", 3, "12:30"),
        ("86.00", 3, "86.00"),
        ("still", 4, "still"),
        ("+1-407", 2, "+1-407"),
    ],
)
def test_wide_gaps_become_spaces(text, before, expected):
    """Words and signs set apart get a space; numbers and narrow letters do not."""
    assert spaced(text, before) == expected


@pytest.mark.parametrize(("wide", "usual"), [(0.2, 0.4), (0.28, 0.4), (0.4, 0.0)])
def test_narrow_gaps_are_none(wide, usual):
    """A gap narrower than the page's spaces adds none; without spaces it must be wide."""
    assert spaced("TAXABLE", 3, wide, usual) == "TAXABLE"
