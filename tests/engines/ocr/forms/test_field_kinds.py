"""Tests of chalicelib/engines/ocr/forms/field_kinds.py."""

from __future__ import annotations

import pytest

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.field_kinds import (
    fitness,
    join_boxed_digits,
    remove_spaces,
    span_of,
)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("1 0 3 8", "1038"),
        ("A 1 2 3 4", "A1234"),
        ("Y N", "Y N"),
        ("10 3 8 4 7", "10 3 8 4 7"),
        ("4 1 2 5 $ 9 0 8 3", "412559083"),
        ("$ 4 1 2", "$ 4 1 2"),
    ],
)
def test_number_in_single_boxes_is_one_number(text: str, closed: str) -> None:
    """Digits set apart are one number; words and groups of a few letters are not."""
    assert join_boxed_digits(text) == closed


def test_value_ends_where_the_first_of_its_type_ends() -> None:
    """A second date or amount after the first is not part of the value."""
    text = "03/18/1978 820BAC 01/01/2020"

    assert span_of(("DATE",), text) == (0, 10)


def test_space_may_separate_thousands() -> None:
    """An amount with spaces between thousands and a comma before cents is whole."""
    assert span_of(("CURRENCY",), "Total 2 135,50 €") == (6, 16)
    assert span_of(("CURRENCY",), "12 450,00") is None


def test_currency_belongs_to_the_amount() -> None:
    """A currency before or after an amount is part of it; a percentage is no amount."""
    for text in ("SEK 12 925,00", "1 086,00 zł", "1.300,50 Kč", "66.084,00 TL"):
        assert span_of(("CURRENCY",), text) is None
    assert span_of(("CURRENCY",), "20% 386.00") == (4, 10)
    assert fitness(("CURRENCY",), "20%") == settings.MISFIT


@pytest.mark.parametrize("amount", ["31.25", "1,250", "795"])
def test_unit_after_a_slash_cuts_no_amount(amount: str) -> None:
    """An amount per hour or month is whole; the parts of 05/31 are no amounts."""
    assert span_of(("CURRENCY",), f"{amount}/month") == (0, len(amount))
    assert fitness(("NUMBER",), "05/31") == settings.MISFIT


def test_amount_after_a_date_is_whole() -> None:
    """The day of a date is not joined with the amount that follows."""
    assert span_of(("CURRENCY",), "on 12 September 2024 300,00") == (21, 27)


def test_loss_keeps_its_parentheses() -> None:
    """An amount in parentheses keeps both; a single parenthesis is dropped."""
    assert span_of(("CURRENCY",), "(5,253) Form 8949") == (0, 7)
    assert span_of(("CURRENCY",), "(5,253)") is None
    assert span_of(("CURRENCY",), "(5,253 of it") == (1, 6)


def test_blank_behind_a_narrow_digit_ends_no_amount() -> None:
    """One space inside whole dollars is ignored; two amounts stay separate."""
    assert span_of(("CURRENCY",), "1 8982") is None
    assert [remove_spaces(text) for text in ("1 8982", "10.00 32.00", "12 345")] == [
        "18982",
        "10.00 32.00",
        "12 345",
    ]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("5, 710", "5,710"),
        ("$ 1, 234. 56", "$ 1,234.56"),
        ("(5.132.00)", "(5.132.00)"),
        ("1 75,063", "175,063"),
        ("21 5,852.00", "215,852.00"),
        ("1 6,245", "16,245"),
    ],
)
def test_blank_behind_a_comma_or_a_narrow_digit_ends_no_amount(text: str, whole: str) -> None:
    """Typewriter spacing and blurred commas inside an amount are tolerated."""
    assert span_of(("CURRENCY",), text) is None
    assert remove_spaces(text) == whole
    assert span_of(("CURRENCY",), "20 5,852") == (0, 2)


def test_sentence_that_mentions_an_amount_is_none() -> None:
    """An amount must be at the start of its text, or after a word or two."""
    assert fitness(("CURRENCY",), "has been changed from $8.00") == settings.MISFIT
    assert fitness(("CURRENCY",), "USD 8.00") > 1
