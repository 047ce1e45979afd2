"""Tests of chalicelib/engines/ocr/learning/given_values.py."""

from __future__ import annotations

import pytest

from chalicelib.engines.ocr.forms.segments import make_segments
from chalicelib.engines.ocr.learning.given_values import PageTexts, is_same_value
from tests.engines.ocr.learning.drawn import lines_page


def _found(lines: list[str], value: str, *, is_exact: bool = True) -> list[str]:
    """Return the texts at the places of a value."""
    segments = make_segments(lines_page(lines, step=30).lines, 0.0)
    return [place.text for place in PageTexts(segments, is_exact=is_exact).find(value)]


@pytest.mark.parametrize(
    ("line", "value", "text"),
    [
        ("Total due $1,234.50 today", "1234.5", "$1,234.50"),
        ("Summe 1.234,50 € brutto", "1234.50", "1.234,50 €"),
        ("Total 1 USD", "1", "1"),
        ("Loss (1,234.50)", "-1234.50", "(1,234.50)"),
        ("Date: March 5, 2024", "2024-03-05", "March 5, 2024"),
        ("am 05.03.24 in Kiel", "2024-03-05", "05.03.24"),
        ("Invoice No. INV-0042/A", "inv 0042 a", "INV-0042/A"),
        ("Name: O'NEIL, PETER", "O'Neil Peter", "O'NEIL, PETER"),
    ],
)
def test_value_is_found_in_the_format_of_the_page(line: str, value: str, text: str) -> None:
    """Case, punctuation, currency and date order may differ from the page."""
    assert _found([line], value) == [text]


def test_value_may_run_over_lines() -> None:
    """A value given on one line may be on two lines of the page."""
    lines = ["12 Elm Street", "Phoenix, AZ 85001", "Thank you"]

    assert _found(lines, "12 Elm Street, Phoenix AZ 85001") == ["12 Elm Street Phoenix, AZ 85001"]


@pytest.mark.parametrize(
    ("line", "value"),
    [("No. 2024-101", "101"), ("1,234.50", "234.50"), ("Subtotal", "total"), ("1234.50", "1234")],
)
def test_part_of_a_longer_number_or_word_is_no_value(line: str, value: str) -> None:
    """A value must match a whole word, number or code."""
    assert _found([line], value) == []


def test_misread_value_is_found_in_recognised_text_only() -> None:
    """One misread character is accepted in OCR text, not in a text layer."""
    assert _found(["Order KL4711 X"], "KL47l1") == []
    assert _found(["Order KL47II X"], "KL4711", is_exact=False) == []
    assert _found(["Order KLM4711O X"], "KLM47110", is_exact=False) == ["KLM4711O"]


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("$1,234.50", "1234.5", True),
        ("1.234,50", "1,234.50", True),
        ("(12.00)", "12.00", False),
        ("-12", "12", False),
        ("3/5/2024", "March 5, 2024", True),
        ("3/5/2024", "3/6/2024", False),
        ("ACME Ltd.", "acme ltd", True),
        ("ACME", "ACME Ltd", False),
        ("", "", True),
    ],
)
def test_values_are_compared_without_their_format(first: str, second: str, is_same: bool) -> None:
    """Values are equal if their letters and digits, number or date are equal."""
    assert is_same_value(first, second) is is_same
