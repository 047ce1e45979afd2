"""Tests of chalicelib/engines/ocr/forms/amounts.py."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.amounts import AmountStyle, with_points
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def test_one_comma_shows_that_points_between_thousands_are_misread() -> None:
    """Points between thousands count as misread if the form has commas before three digits."""
    assert AmountStyle.of_texts(["1,204", "33.100", "2.345"]).has_commas
    assert not AmountStyle.of_texts(["1.204", "33.100"]).has_commas
    assert not AmountStyle.of_texts(["1.204,50", "3,100", "12,00"]).has_commas
    assert AmountStyle.of_texts(["1.204.50", "33.100"]).has_commas


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("110.656", "110,656"),
        ("$ 1.234.567", "$ 1,234,567"),
        ("210 794", "210,794"),
        ("$5.379.04", "$5,379.04"),
        ("12.50", "12.50"),
        ("1.2345", "1.2345"),
    ],
)
def test_points_between_thousands_become_commas(text: str, corrected: str) -> None:
    """Misread thousands points become commas; decimal points and forms without commas stay."""
    assert AmountStyle(has_commas=True).corrected(text) == corrected
    assert AmountStyle(has_commas=False).corrected(text) == text


def test_amount_that_lost_its_point_is_odd_among_those_with_cents() -> None:
    """An amount without cents is odd among amounts with cents; few or mixed ones decide nothing."""
    with_cents = AmountStyle.of_texts(["Rate 21.50", "1,720.00 8,600.00", "388.79"])
    without = AmountStyle.of_texts(["1,720", "8,600 24,910"])
    unknown = (AmountStyle.of_texts(["21.50 1,720.00"]), AmountStyle.of_texts(["1,720 21.50"] * 3))

    assert with_cents.is_odd("$2150")
    assert not with_cents.is_odd("(21.50)")
    assert without.is_odd("209.52")
    assert not without.is_odd("48")
    assert not any(style.is_odd(text) for style in unknown for text in ("2150", "21.50"))


def test_odd_amount_is_less_probable_where_an_engine_read_it() -> None:
    """An amount that lost its point is found by comparison only, and made less probable."""
    sure = []
    for amount in ("21.50", "2150"):
        form = DrawnForm()
        form.write(60, 94, f"Pay rate: {amount}")
        for row, other in enumerate(("1,720.00", "388.79", "24.91", "8,600.00")):
            form.write(600, 140 + 40 * row, other)
        key = TemplateKey("rate", ("Pay rate",), ("CURRENCY",))
        (field,) = find_fields(form.read(), FormTemplate((key,)))
        assert field.value_text == amount
        sure.append(field.probability)

    assert sure[0] > 2 * settings.ODD_AMOUNT_CERTAINTY
    assert sure[1] <= settings.ODD_AMOUNT_CERTAINTY


@pytest.mark.parametrize("gap", [None, 12])
def test_cents_that_are_printed_apart_belong_to_the_amount(gap: int | None) -> None:
    """Tax slips print cents in a column of their own, pay statements omit the point."""
    form = DrawnForm()
    for row, (dollars, cents) in enumerate((("1,204", "50"), ("86", "20"), ("3", "75"))):
        if gap is None:
            form.write(500, 100 + 40 * row, f"{dollars} {cents}")
        else:
            end = form.write(500, 100 + 40 * row, dollars).max_x
            form.write(end + gap, 100 + 40 * row, cents)
    form.write(60, 100, "Gross pay")
    form.write(60, 140, "Medicare")
    form.expect("gross", "1,204.50", "Gross pay", types=("CURRENCY",))
    form.expect("medicare", "86.20", "Medicare")

    fields = find_fields(form.read(), form.template)

    assert {field.entity: field.value_text for field in fields} == form.values


@pytest.mark.parametrize(
    "texts",
    [
        ["1,204 50", "86 20"],
        ["204 50", "86 20", "3 75"],
        ["1,204 50", "86 20", "3 75", "1.20", "4.30", "5.60", "7.80"],
        ["1,204 50", "86 20", "3 75", "1,200", "4,300", "5,600", "7,800"],
    ],
)
def test_numbers_next_to_each_other_are_no_amounts_without_evidence(texts: list[str]) -> None:
    """Two columns of numbers must stay apart: few, without thousands, or among other amounts."""
    form = DrawnForm()
    for row, text in enumerate(texts):
        form.write(500, 100 + 40 * row, text)

    assert [line.text for line in with_points(form.lines)] == texts


@pytest.mark.parametrize(
    "text", ["Jan 15 26", "01 15 26", "20 26", "Unit 4 12 Main Street", "Dept: 300 20"]
)
def test_dates_and_addresses_are_no_amounts_with_cents(text: str) -> None:
    """Only a text that is nothing but an amount, or has thousands, gets a point."""
    form = DrawnForm()
    texts = ["1,204 50", "86 20", "Net: 2,310 75", text]
    for row, each in enumerate((*texts, "3 75")):
        form.write(500, 100 + 40 * row, each)

    expected = ["1,204.50", "86.20", "Net: 2,310.75", text, "3.75"]
    assert [line.text for line in with_points(form.lines)] == expected


def test_of_three_numbers_in_a_row_none_is_the_cents_of_another() -> None:
    """No text of a line may be lost or used twice."""
    form = DrawnForm()
    end = 500.0
    for text in ("1,204", "12", "15"):
        end = form.write(end + 12, 300, text).max_x
    for row, text in enumerate(("1,204 50", "86 20", "3 75")):
        form.write(60, 100 + 40 * row, text)

    texts = [line.text for line in with_points(form.lines)]

    assert texts == ["1,204", "12", "15", "1,204.50", "86.20", "3.75"]
