"""Values and the ruled boxes of forms: see chalicelib/engines/ocr/forms/values/candidates.py."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _boxes(**values: str) -> DrawnForm:
    """Draw two boxes side by side, each with a label in its corner and a value below."""
    form = DrawnForm()
    for place, label in enumerate(("Apartment", "Campaign")):
        x = 100 + 300 * place
        form.box(x, 100, x + 300, 170)
        form.write(x + 6, 104, label, 14)
        if values.get(label):
            form.write(x + 200, 140, values[label], 20)
    return form


def _read(form: DrawnForm, *keys: TemplateKey) -> dict[str, str]:
    """Return the values of keys."""
    return {each.entity: each.value_text for each in find_fields(form.read(), FormTemplate(keys))}


def test_value_stands_in_the_box_of_its_key() -> None:
    """The text below the caption in its box is its value, even if another box's text is nearer."""
    form = _boxes(Apartment="25", Campaign="No")

    assert _read(form, TemplateKey("apartment", ("Apartment",))) == {"apartment": "25"}


def test_empty_box_has_no_value() -> None:
    """An empty box does not take the value of the box next to it."""
    form = _boxes(Campaign="No")

    assert _read(form, TemplateKey("apartment", ("Apartment",))) == {"apartment": ""}


def test_place_with_a_fitting_value_is_the_key() -> None:
    """If a key occurs twice, the place with a value of its type is used."""
    form = DrawnForm()
    form.write(60, 40, "Phone")
    form.write(160, 40, "on file")
    form.write(60, 240, "Phone")
    form.write(160, 240, "(602) 555-0134")

    assert _read(form, TemplateKey("phone", ("Phone",), ("PHONE",))) == {"phone": "(602) 555-0134"}


def test_column_named_like_a_key_is_not_its_place() -> None:
    """The total of an invoice is found although a column of its items is also named Total."""
    form = DrawnForm()
    rows = (
        (300, "Description", "Total"),
        (340, "Desk lamp, brass", "$ 80.00"),
        (380, "Oak shelf", "$ 40.00"),
        (460, "Subtotal", "$ 120.00"),
        (500, "Tax", "$ 12.00"),
        (540, "Total", "$ 132.00"),
    )
    for y, name, amount in rows:
        form.write(60, y, name)
        form.write(950, y, amount)
    keys = (
        TemplateKey("subtotal", ("Subtotal",)),
        TemplateKey("tax", ("Tax",)),
        TemplateKey("total", ("Total", "Total due")),
    )

    assert _read(form, *keys)["total"] == "$ 132.00"


def test_number_of_a_caption_is_not_the_value_of_its_box() -> None:
    """The number before a caption is not the value of its empty box."""
    form = DrawnForm()
    captions = {"3": "Nondividend distributions", "4": "Federal tax withheld", "5": "Expenses"}
    for place, (number, caption) in enumerate(captions.items()):
        form.box(60, 60 + 100 * place, 500, 160 + 100 * place)
        form.write(66, 64 + 100 * place, number, 14)
        form.write(96, 64 + 100 * place, caption, 14)
    form.write(300, 120, "173.00")
    keys = [TemplateKey(caption, (caption,), ("CURRENCY",)) for caption in captions.values()]

    assert _read(form, *keys) == {
        "Nondividend distributions": "173.00",
        "Federal tax withheld": "",
        "Expenses": "",
    }


def test_digits_in_single_boxes_stay_in_their_row() -> None:
    """Digits in single boxes belong to the key of their row, not of the row above."""
    form = DrawnForm()
    form.rule(240, 90, 240, 160)
    values = {"Routing number": "476206760", "Account number": "709747272475"}
    for row, (key, digits) in enumerate(values.items()):
        form.write(230 - form.width(key), 94 + 34 * row, key)
        for place, digit in enumerate(digits):
            form.write(256 + 40 * place, 92 + 34 * row, digit)
    for column, (key, value) in enumerate(
        {"Town": "Ames", "Firm": "Acme", "Trade": "Nurse"}.items()
    ):
        form.write(60 + 300 * column, 400, key)
        form.write(60 + 300 * column, 424, value)
        values[key] = value
    keys = [TemplateKey(text, (text,)) for text in values]

    assert _read(form, *keys) == values


def test_missing_digit_makes_a_number_in_single_boxes_unsure() -> None:
    """If a box between two digits was not read, the number is less probable.

    This also holds where the engine is sure of each digit. In a text layer no digit is missing.
    """

    def probability(digits: str, is_exact: bool) -> float:
        form = DrawnForm()
        form.write(60, 94, "Routing number:")
        for place, digit in enumerate(digits.strip()):
            if digit != " ":
                form.write(240 + 28 * place, 94, digit)
        page = form.read()
        lines = tuple(replace(line, probability=1.0) for line in page.lines)
        key = TemplateKey("number", ("Routing number",))
        page = replace(page, lines=lines, is_exact=is_exact)
        (field,) = find_fields(page, FormTemplate((key,)))
        assert field.value_text == digits.replace(" ", "")
        return field.probability

    assert probability("38047", False) > 0.8
    assert probability("38 4719", False) < 0.5 < probability("38 4719", True)


def test_side_of_the_first_box_does_not_part_a_number_from_its_key() -> None:
    """The left edge of a row of single boxes does not separate the number from its key."""
    form = DrawnForm()
    form.box(90, 86, 240, 160)
    values = {"Routing": "0 2 1 0 0 0 0 8 9", "Number": "7 7 1 2 0 0 4 5"}
    for row, (key, digits) in enumerate(values.items()):
        form.write(100, 94 + 34 * row, key)
        form.write(232, 94 + 34 * row, digits)
    others = {"Town": "Ames", "Firm": "Acme", "Trade": "Nurse", "Home": "Iowa"}
    for column, (key, value) in enumerate(others.items()):
        form.box(60 + 200 * column, 300, 260 + 200 * column, 370)
        form.write(66 + 200 * column, 304, key, 14)
        form.write(66 + 200 * column, 336, values.setdefault(key, value))
    template = FormTemplate(tuple(TemplateKey(text, (text,)) for text in values))

    fields = find_fields(form.read(), template)

    assert {each.entity: each.value_text for each in fields} == {
        key: text.replace(" ", "") for key, text in values.items()
    }
    assert min(each.probability for each in fields) > 0.6


def test_text_in_the_margin_is_not_in_a_box_that_is_open_to_it() -> None:
    """Margin text is not part of a box that has no rule on its left."""
    form = DrawnForm()
    form.rule(60, 90, 700, 90)
    form.rule(60, 160, 700, 160)
    form.rule(700, 90, 700, 160)
    form.write(280, 94, "Name of preparer", 14)
    form.write(95, 118, "Paid", 22)
    key = TemplateKey("name", ("Name of preparer",), ("NAME",))

    assert _read(form, key) == {"name": ""}


def test_page_ruled_like_graph_paper_takes_seconds_at_most() -> None:
    """A page with a dense mesh of rules and a thousand texts is searched in seconds."""
    pixels = np.full((1600, 1200, 3), 255, np.uint8)
    pixels[::8], pixels[:, ::8] = 0, 0
    lines = tuple(
        TextLine(f"Name \u200f{n}", 0.9, Rect(x, y, x + 40, y + 12))
        for n in range(1000)
        for x, y in [(30.0 * (n % 40), 20.0 + 60 * (n // 40))]
    )
    page = ReadPage(Page(1, 1200, 1600, 1.0), 0, pixels, lines)
    started = time.process_time()

    fields = find_fields(page, FormTemplate((TemplateKey("name", ("Name",)),)))

    assert time.process_time() - started < 8
    assert len(fields) == 1


def test_odd_boxes_of_text_are_no_failure() -> None:
    """Boxes of text without size, off the page or nested do not fail."""
    places = (
        Rect(10, 10, 10, 10),
        Rect(90, 90, 20, 20),
        Rect(-50, -50, 5000, 5000),
        Rect(1, 1, 2, 2),
    )
    lines = tuple(TextLine("1 Total 5", 0.5, rect) for rect in places)
    page = ReadPage(Page(1, 100, 100, 1.0), 0, np.zeros((100, 100, 3), np.uint8), lines)

    assert find_fields(page, FormTemplate((TemplateKey("total", ("Total",), ("CURRENCY",)),)))


def _ruled_rows(*rows: tuple[str, ...]) -> DrawnForm:
    """Draw rows of ruled boxes with a text at the top of each."""
    form = DrawnForm()
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            left, top = 60 + 220 * column, 90 + 70 * row
            form.box(left, top, left + 220, top + 70)
            if text:
                form.write(left + 8, top + 8, text)
    return form


HEADERS = ("Invoice Number", "Invoice Date", "Charges")
HEADER_KEYS = tuple(TemplateKey(header, (header,)) for header in HEADERS)


def test_values_stand_below_a_ruled_row_of_headers() -> None:
    """In a ruled header row the box directly below each caption has its value."""
    form = _ruled_rows(HEADERS, ("34278587", "6/18/2017", "$56,651.49"))

    assert _read(form, *HEADER_KEYS) == dict(
        zip(HEADERS, ("34278587", "6/18/2017", "$56,651.49"), strict=True)
    )


@pytest.mark.parametrize(
    "below",
    [
        ("Street", "Country", "Remarks"),
        ("34278587", "6/18/2017", ""),
        ("3 Wages", "5 Medicare", "7 Tips"),
    ],
)
def test_empty_box_is_not_filled_from_the_box_below(below: tuple[str, ...]) -> None:
    """An empty box is not filled with unknown captions or two texts from the box below."""
    assert _read(_ruled_rows(HEADERS, below), *HEADER_KEYS) == dict.fromkeys(HEADERS, "")


def test_letters_of_lines_are_not_values_of_adjacent_captions() -> None:
    """A line letter before a caption is not a value of the neighbouring caption."""
    form = DrawnForm()
    form.box(60, 60, 400, 160)
    form.write(70, 96, "b")
    form.write(90, 96, "Routing")
    form.write(70, 130, "d")
    form.write(90, 130, "Account")
    keys = [TemplateKey(text, (text,)) for text in ("Routing", "Account")]

    assert _read(form, *keys) == {"Routing": "", "Account": ""}
