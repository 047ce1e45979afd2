"""Tests of chalicelib/engines/ocr/forms/amounts.py."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.amounts import AmountStyle
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def test_one_comma_shows_that_points_between_thousands_are_misread() -> None:
    """Worn commas look like points; commas before two digits are cents of another country."""
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
    """Cents keep their point, and so do other texts; without commas nothing changes."""
    assert AmountStyle(has_commas=True).corrected(text) == corrected
    assert AmountStyle(has_commas=False).corrected(text) == text


def test_amount_that_lost_its_point_is_odd_among_those_with_cents() -> None:
    """Few amounts, and those of both kinds, tell nothing."""
    with_cents = AmountStyle.of_texts(["Rate 21.50", "1,720.00 8,600.00", "388.79"])
    without = AmountStyle.of_texts(["1,720", "8,600 24,910"])
    unknown = (AmountStyle.of_texts(["21.50 1,720.00"]), AmountStyle.of_texts(["1,720 21.50"] * 3))

    assert with_cents.is_odd("$2150")
    assert not with_cents.is_odd("(21.50)")
    assert without.is_odd("209.52")
    assert not without.is_odd("48")
    assert not any(style.is_odd(text) for style in unknown for text in ("2150", "21.50"))


def test_odd_amount_is_less_probable_where_an_engine_read_it() -> None:
    """A point that was not read is seen by comparison alone: the engine is sure of the digits."""
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
