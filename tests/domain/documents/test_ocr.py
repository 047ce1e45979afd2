"""Findings in the order of answers, the best page of a field, and the order of reading."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from chalicelib.domain.documents.findings import Contact, FormField, Table
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.ocr import (
    Finding,
    OcrRequest,
    best_fields,
    count_line_words,
    in_reading_order,
    ordered,
    place_of,
    shown_probability,
    without_content,
)
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.domain.documents.picture import PixelBox


def a_finding(item, page=1, position=0):
    """Put an item on a page."""
    return Finding(ReadPage(Page(page, 100, 100, 2.0), 0, None, ()), position, item)


def a_line(text, probability=1.0, x=0.0, y=0.0, height=10.0):
    """Write a line somewhere."""
    return TextLine(text, probability, Rect(x, y, x + 10, y + height))


def a_field(entity, value, probability):
    """Find a field."""
    box = Rect(30, 0, 60, 9) if value else None
    return FormField(entity, "key", Rect(0, 0, 20, 9), value, box, probability)


def test_order_of_an_answer():
    """By probability as it is shown, then page, then reading order."""
    findings = [
        a_finding(a_line("d", 0.5), 1, 0),
        a_finding(a_line("c", 0.9), 2, 0),
        a_finding(a_line("b", 0.9000000001), 1, 7),
        a_finding(a_line("a", 0.9), 1, 3),
    ]

    assert [each.item.text for each in ordered(findings)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.12345678, 0.123457), (-0.1, 0.0), (1.5, 1.0), (math.nan, 0.0)]
)
def test_probabilities_are_shown_within_bounds(value, shown):
    """Six digits, from 0 to 1, whatever an engine computes."""
    assert shown_probability(value) == shown


def test_best_page_of_a_field():
    """A value wins over none, then the higher probability, then the first page."""
    found = best_fields(
        [
            a_finding(a_field("name", "", 0.99), 1),
            a_finding(a_field("name", "Ann", 0.5), 2),
            a_finding(a_field("name", "Bob", 0.6), 3),
            a_finding(a_field("name", "Cid", 0.6), 4),
            a_finding(a_field("date", "", 0.3), 2),
        ]
    )

    assert [(each.item.entity, each.item.value_text, each.page_number) for each in found] == [
        ("name", "Bob", 3),
        ("date", "", 2),
    ]


def test_best_page_is_where_the_key_fits():
    """A value after a key inside a sentence loses against one after a real key."""
    mentioned = replace(a_field("name", "Ann", 0.9), fit=0.5)
    meant = replace(a_field("name", "Bob", 0.8), fit=0.9)

    (found,) = best_fields([a_finding(mentioned, 1), a_finding(meant, 2)])

    assert found.item.value_text == "Bob"


def test_page_that_mentions_a_key_does_not_count_if_another_has_it():
    """A page where the key matches about as well counts, even with an empty value."""
    mentioned = replace(a_field("name", "Ann", 0.9), key_score=0.5)
    meant = replace(a_field("name", "", 0.9), key_score=0.95)
    alike = replace(a_field("name", "Bob", 0.7), key_score=0.8)

    (empty,) = best_fields([a_finding(mentioned, 1), a_finding(meant, 2)])
    (found,) = best_fields(
        [a_finding(each, at) for at, each in enumerate((mentioned, meant, alike))]
    )

    assert (empty.item.value_text, found.item.value_text) == ("", "Bob")


def test_place_of_a_field():
    """A field's box is the union of key and value, or of the one that has a place."""
    both, key = a_field("a", "x", 1), a_field("a", "", 1)
    value = FormField("a", "", None, "x", Rect(1, 2, 3, 4), 1)

    assert place_of(both) == Rect(0, 0, 60, 9)
    assert place_of(key) == Rect(0, 0, 20, 9)
    assert place_of(value) == Rect(1, 2, 3, 4)
    assert a_finding(both).box == PixelBox(0, 0, 120, 18), "two pixels of the answer for each"


def test_order_of_reading():
    """Rows from top to bottom, each from left to right, though its items stand unevenly."""
    items = [
        a_line("4", y=40, x=5),
        a_line("2", y=3, x=50),
        a_line("3", y=-2, x=90),
        a_line("1", y=0, x=0),
        Contact("ORG", "5", 1.0, Rect(0, 60, 9, 70)),
        a_line("6", y=62, x=20),
    ]

    assert [item.text for item in in_reading_order(items)] == ["1", "2", "3", "4", "5", "6"]
    assert in_reading_order([]) == []


def test_words_are_counted_as_the_limit_counts_them():
    """By white space, over all lines."""
    assert count_line_words([a_line("two words"), a_line("one"), a_line("1.2.3 - 4")]) == 6


def test_page_without_content_still_leads_to_the_answer():
    """Releasing a page drops pixels, lines and layer, and keeps coordinates."""
    lines = (a_line("x"),)
    page = ReadPage(Page(3, 100, 50, 2.0, object(), lines), 1, object(), lines)

    light = without_content(page)

    assert (light.pixels, light.lines, light.page.pixels, light.page.layer) == (
        None,
        (),
        None,
        None,
    )
    assert light.answer_box(Rect(0, 0, 10, 20)) == page.answer_box(Rect(0, 0, 10, 20))
    assert light.page.number == 3


def test_what_needs_pixels():
    """Only tables need pixels in addition to a text layer."""
    fields = FormTemplate(keys=())
    tables = FormTemplate(keys=(), finds_tables=True)

    assert not OcrRequest("text").needs_pixels
    assert not OcrRequest("contact").needs_pixels
    assert OcrRequest("table").needs_pixels
    assert not OcrRequest("form", fields).needs_pixels
    assert OcrRequest("form", tables).needs_pixels


def test_table_without_ink_has_no_probability():
    """An empty table is shown as improbable instead of failing."""
    assert a_finding(Table(Rect(0, 0, 9, 9), ())).probability == 0.0
