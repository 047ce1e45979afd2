"""Tests of chalicelib/engines/ocr/forms/values/line_numbers.py."""

from __future__ import annotations

import time

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.forms.finder import find_fields


def _page(*rows: tuple[tuple[float, str], ...]) -> ReadPage:
    """Return a page with rows of texts at given left sides."""
    lines = tuple(
        TextLine(text, 1.0, Rect(x, 40.0 * row, x + 10.0 * len(text), 40.0 * row + 20))
        for row, texts in enumerate(rows, start=1)
        for x, text in texts
    )
    return ReadPage(Page(1, 1200, 1600, 1.0), 0, None, lines)


def _values(page: ReadPage, **keys: str) -> dict[str, str]:
    """Return the values of keys of amounts."""
    template = FormTemplate(
        tuple(TemplateKey(entity, (text,), ("CURRENCY",)) for entity, text in keys.items())
    )
    return {field.entity: field.value_text for field in find_fields(page, template)}


def test_number_before_the_amount_is_no_value() -> None:
    """A repeated line number is skipped; without an amount nothing is found."""
    page = _page(
        ((50, "8"), (90, "Other income"), (800, "8"), (900, "61")),
        ((50, "9"), (90, "This is your total income"), (800, "9"), (900, "9")),
        ((50, "10"), (90, "Adjustments"), (800, "10")),
        ((50, "11"), (90, "Tax"), (800, "11"), (900, "7.00")),
    )

    found = _values(page, other="Other income", total="total income", less="Adjustments", tax="Tax")

    assert found == {"other": "61", "total": "9", "less": "", "tax": "7.00"}


def test_letters_and_inner_columns_have_numbers_too() -> None:
    """A row may have two numbered texts, the second with only its letter."""
    page = _page(
        ((50, "2a"), (90, "Interest"), (400, "2a"), (450, "12"), (600, "b Taxed"), (800, "2b")),
        ((50, "3a"), (90, "Dividends"), (400, "3a"), (600, "b Paid"), (800, "3b"), (900, "33")),
    )

    found = _values(page, interest="Interest", taxed="Taxed", dividends="Dividends", paid="Paid")

    assert found == {"interest": "12", "taxed": "", "dividends": "", "paid": "33"}


def test_number_may_stand_at_the_end_of_a_longer_text() -> None:
    """A numbered text of two lines has its amount next to the second line."""
    page = _page(
        ((50, "33"), (90, "Add lines"), (800, "33"), (900, "5")),
        ((50, "34"), (90, "Compare lines"), (800, "34"), (900, "6")),
        ((50, "37"), (90, "Subtract. This is the amount you owe.")),
        ((90, "See the instructions"), (800, "37"), (900, "3,225")),
    )

    assert _values(page, owed="amount you owe") == {"owed": "3,225"}


def test_equal_measures_are_no_line_numbers() -> None:
    """Numbers that do not increase from row to row are values, even if they are repeated."""
    page = _page(
        ((50, "Length"), (400, "99 mm"), (500, "99")),
        ((50, "Width"), (400, "27 mm"), (500, "27")),
        ((50, "Depth"), (400, "16 mm"), (500, "16")),
    )

    assert _values(page, width="Width") == {"width": "27"}


def test_page_of_numbers_takes_seconds_at_most() -> None:
    """A page of many numbers in one place takes no longer than a form."""
    rows = [tuple((float(10 * place), str(place % 90)) for place in range(100)) for _ in range(10)]
    began = time.process_time()

    _values(_page(*rows), nothing="Nothing")

    assert time.process_time() - began < 5


def test_digits_in_single_boxes_are_no_line_numbers() -> None:
    """Digits in single boxes are not line numbers."""
    page = _page(
        ((50, "b"), (90, "Routing number"), *((400 + 40.0 * n, d) for n, d in enumerate("1013")))
    )
    template = FormTemplate((TemplateKey("routing", ("Routing number",)),))

    (field,) = find_fields(page, template)

    assert field.value_text == "1013"


def test_zero_is_an_amount() -> None:
    """A zero is not a line number: two zeros in a row are amounts."""
    page = _page(
        ((50, "2a"), (90, "Interest"), (400, "2a"), (450, "0"), (600, "b Taxed"), (800, "2b")),
        (
            (50, "3a"),
            (90, "Dividends"),
            (400, "3a"),
            (450, "0"),
            (600, "b Paid"),
            (800, "3b"),
            (900, "0"),
        ),
    )

    assert _values(page, paid="Paid", dividends="Dividends") == {"paid": "0", "dividends": "0"}


def test_number_of_a_line_is_not_the_value_of_an_adjacent_heading() -> None:
    """A line number is not the value of a heading in the margin."""
    page = _page(
        ((50, "36"), (90, "Applied"), (800, "36"), (900, "4,454")),
        ((-90, "You Owe"), (50, "37"), (90, "Subtract line 33 from 24. It is due"), (800, "37")),
        ((50, "38"), (90, "Penalty"), (800, "38"), (900, "63")),
    )

    found = _values(page, owed="You Owe", due="It is due", penalty="Penalty")

    assert found == {"owed": "", "due": "", "penalty": "63"}


def test_large_writing_belongs_to_the_line_on_whose_baseline_it_stands() -> None:
    """Large handwriting belongs to the line on whose baseline it is written."""
    rows = (
        (7, "Gains", "61"),
        (8, "Other", ""),
        (9, "Total", "344"),
        (10, "Less", ""),
        (11, "", "9"),
    )
    lines = []
    for row, (number, text, amount) in enumerate(rows):
        top = 100.0 + 24 * row
        for x, word in ((50, str(number)), (90, text or "Others"), (800, str(number))):
            lines.append(TextLine(word, 1.0, Rect(x, top, x + 10.0 * len(word), top + 20)))
        if amount:
            lines.append(TextLine(amount, 1.0, Rect(880, top - 14, 960, top + 20)))
    page = ReadPage(Page(1, 1200, 1600, 1.0), 0, None, tuple(lines))

    found = _values(page, gains="Gains", other="Other", total="Total", less="Less")

    assert found == {"gains": "61", "other": "", "total": "344", "less": ""}
