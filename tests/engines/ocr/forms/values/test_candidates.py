"""Texts near a key that may be its value: chalicelib/engines/ocr/forms/values/candidates.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _values(form: DrawnForm) -> dict[str, str]:
    return {each.entity: each.value_text for each in find_fields(form.read(), form.template)}


@pytest.mark.parametrize("caption", ["Ending balance on May 31, 2024", "Ending balance 05/31"])
def test_number_of_a_date_is_no_amount(caption: str) -> None:
    """A date after a caption is not the amount; the amount is at the end of the row."""
    form = DrawnForm()
    form.write(100, 100, caption)
    form.write(600, 100, "$4,493.36")
    form.expect("closing", "$4,493.36", "Ending balance", types=("CURRENCY",))

    assert _values(form) == form.values


def test_second_line_of_the_next_caption_hides_no_value() -> None:
    """A value below its caption is found, although the caption on the right has two lines."""
    form = DrawnForm()
    form.write(100, 100, "Employer number", 15)
    form.write(230, 100, "Social security", 15)
    form.write(230, 118, "number", 15)
    form.write(100, 138, "48-1122334")
    form.write(230, 138, "512-00-7719")
    form.expect("employer", "48-1122334", "Employer number")
    form.expect("security", "512-00-7719", "Social security number")

    assert _values(form) == form.values


@pytest.mark.parametrize(
    ("first", "second"), [("Facture n° F2024-118", ""), ("Facture n", "# F2024-118")]
)
def test_sign_of_a_number_is_not_part_of_it(first: str, second: str) -> None:
    """The rest of n° and a separate # before a number are not part of the value."""
    form = DrawnForm()
    form.write(100, 100, first)
    form.write(100, 130, second)
    form.expect("number", "F2024-118", "Facture n°")

    assert _values(form) == form.values


def test_text_with_the_format_of_a_key_is_its_value() -> None:
    """Of the texts near a key, one with the usual format comes before a nearer one without."""
    form = DrawnForm()
    form.write(100, 100, "Tax ID")
    form.write(170, 100, "Box A17")
    form.write(100, 130, "48-1122334")
    form.expect("tax_id", "48-1122334", "Tax ID")

    assert _values(form) == {"tax_id": "Box A17"}
    (key,) = form.template.keys
    template = replace(form.template, keys=(replace(key, format=r"\d{2}-\d{7}"),))
    assert find_fields(form.read(), template)[0].value_text == "48-1122334"


def test_next_row_continues_no_value() -> None:
    """A full line ends a value if the text below its caption has a value too."""
    form = DrawnForm()
    form.write(100, 70, "Account number")
    form.write(500, 70, "000 4417 8820")
    form.write(100, 100, "Statement period")
    form.write(500, 100, "May 1, 2024 through May 31, 2024, and the days until payment")
    form.write(100, 130, "Balance")
    form.write(500, 130, "12.00")
    form.expect("account", "000 4417 8820", "Account number")
    form.expect(
        "period", "May 1, 2024 through May 31, 2024, and the days until payment", "Statement period"
    )

    assert _values(form) == form.values


@pytest.mark.parametrize(("caption", "size"), [("Deliver to:", 20), ("DELIVER TO", 13)])
def test_lines_in_the_same_print_are_one_value(caption: str, size: int) -> None:
    """All lines below a caption with a colon, or in smaller letters, are its value."""
    form = DrawnForm()
    form.write(100, 100, caption, size)
    for place, line in enumerate(("Castlegate Caterers", "Goods In, Gate B", "Newark")):
        form.write(100, 124 + 26 * place, line, 20)
    form.write(600, 100, "Date: 4 March 2025", 20)
    form.expect("ship_to", "Castlegate Caterers Goods In, Gate B Newark", "Deliver to")
    form.expect("date", "4 March 2025", "Date")

    assert _values(form) == form.values


def test_sides_of_other_fields_are_no_box_of_a_caption() -> None:
    """A caption between drawn fields has no box; its value is in the field to its right."""
    form = DrawnForm()
    form.box(60, 100, 800, 140)
    form.write(70, 108, "Cymru Water plc")
    form.box(60, 190, 260, 230)
    form.write(70, 198, "34,500")
    form.write(280, 198, "Monthly rent")
    form.box(560, 190, 800, 230)
    form.write(570, 198, "795")
    form.box(60, 360, 800, 400)
    form.expect("rent", "795", "Monthly rent")

    assert _values(form) == form.values


def test_cell_with_several_captions_holds_no_value() -> None:
    """Captions in one cell have values in the next cell, although other boxes hold theirs."""
    form = DrawnForm()
    for place, (caption, value) in enumerate(
        (("Number", "00417"), ("Born", "26.08.1989"), ("Class", "3"), ("Entry", "01.04.2019"))
    ):
        form.box(60 + 250 * place, 60, 310 + 250 * place, 130)
        form.write(70 + 250 * place, 66, caption, 15)
        form.write(70 + 250 * place, 92, value)
        form.expect(caption, value, caption)
    form.box(60, 200, 400, 330)
    form.box(400, 200, 560, 330)
    for place, (caption, value) in enumerate(
        (("Lohnsteuer", "148,33"), ("Zuschlag", "0,00"), ("Kirchensteuer", "8,91"))
    ):
        form.write(70, 208 + 40 * place, caption)
        form.write(420, 208 + 40 * place, value)
        form.expect(caption, value, caption)

    assert _values(form) == form.values


@pytest.mark.parametrize("value", ["51.50 -0.12", "09.30 17.00", "$12.50-$18.75"])
def test_several_decimals_are_one_value(value: str) -> None:
    """Coordinates, hours and a range of prices are whole."""
    form = DrawnForm()
    form.write(100, 100, f"Range: {value}")
    form.write(100, 150, "Range")
    form.write(300, 150, value)
    form.expect("range", value, "Range")

    assert _values(form) == form.values


@pytest.mark.parametrize(
    ("first", "second", "types"),
    [("Maria Lopez", "Plumbing repair in kitchen", ("NAME",)), ("AB-1234", "Dear Sir", ())],
)
def test_name_and_code_have_one_line(first: str, second: str, types: tuple[str, ...]) -> None:
    """The line below a name or a code is not part of it."""
    form = DrawnForm()
    form.write(100, 100, "Customer:")
    form.write(100, 126, first)
    form.write(100, 152, second)
    form.expect("customer", first, "Customer", types=types)

    assert _values(form) == form.values


def test_stain_is_not_part_of_a_value() -> None:
    """A single uncertain character after a value is left out."""
    form = DrawnForm()
    end = form.write(100, 100, "Name: Ann Lee").max_x
    form.write(end + 12, 100, "I")
    form.expect("name", "Ann Lee", "Name")
    page = form.read()
    lines = [replace(each, probability=0.4) if each.text == "I" else each for each in page.lines]

    (found,) = find_fields(replace(page, lines=tuple(lines)), form.template)

    assert found.value_text == "Ann Lee"


def test_captions_below_values_without_rules() -> None:
    """If nearly all captions are close below a text, their values are above."""
    form = DrawnForm()
    rows = (("Gate", "W4"), ("Block", "112")), (("Row", "K"), ("Seat", "27")), (("Price", "54"),)
    for place, row in enumerate(rows):
        for at, (caption, value) in enumerate(row):
            form.write(100 + 300 * at, 100 + 80 * place, value, 24)
            form.write(100 + 300 * at, 130 + 80 * place, caption, 15)
            form.expect(caption, value, caption)

    assert _values(form) == form.values


def test_rate_before_an_amount_is_no_value() -> None:
    """A percentage between a caption and its amount is left out; one without amount is a value."""
    form = DrawnForm()
    for at, (caption, rate, amount) in enumerate((("VAT", "19 %", "45.60"), ("Share", "7.5%", ""))):
        form.write(100, 100 + 60 * at, caption)
        form.write(300, 100 + 60 * at, rate)
        form.write(500, 100 + 60 * at, amount)
        form.expect(caption, amount or rate, caption)

    assert _values(form) == form.values


def test_ticked_text_of_a_list_is_the_value() -> None:
    """Of a list of texts with boxes, the text with the ticked box is the value."""
    form = DrawnForm()
    form.write(100, 100, "Sex:")
    form.write(200, 100, "☐ Male ☒ Female ☐ Other")
    form.expect("sex", "Female", "Sex")

    assert _values(form) == form.values
