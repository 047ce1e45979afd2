"""The fields of a zone, and the choice between alternative readings."""

import math
from datetime import date

import pytest

from chalicelib.engines.ocr.mrz.formats import TD1, TD3
from chalicelib.engines.ocr.mrz.zone import day_of, fields_of
from tests.engines.ocr.mrz.zones import CARD, EXAMPLES, LONG_CARD, PASSPORT, changed, decided

TODAY = date(2026, 11, 23)


@pytest.mark.parametrize(("form", "rows"), EXAMPLES)
def test_published_zones_are_valid(form, rows):
    """The examples of ICAO Doc 9303 are valid as printed."""
    decision = decided(form, rows)
    assert decision is not None
    assert decision.rows == rows
    assert decision.certainty > 0.98


def test_zone_has_person_and_document():
    """Number, names, sex, state and dates are read from their standard positions."""
    said = {name: field.text for name, field in fields_of(decided(TD3, PASSPORT)).items()}
    assert said == {
        "number": "L898902C3",
        "surname": "ERIKSSON",
        "given_names": "ANNA MARIA",
        "nationality": "UTO",
        "issuer": "UTO",
        "kind": "P",
        "birth": "740812",
        "expiry": "120415",
        "sex": "F",
    }


def test_names_end_at_a_double_filler():
    """A letter misread among the trailing fillers is not part of a name."""
    misread = (PASSPORT[0][:38] + "C" + PASSPORT[0][39:], PASSPORT[1])
    assert fields_of(decided(TD3, misread))["given_names"].text == "ANNA MARIA"


def test_number_goes_on_in_the_optional_data():
    """A filler instead of a check digit continues a long number in the optional data."""
    assert fields_of(decided(TD1, LONG_CARD))["number"].text == "D23145890734"


@pytest.mark.parametrize("place", [(1, 9), (1, 19), (1, 27), (1, 42), (1, 43), (1, 15)])
def test_wrong_digit_makes_a_zone_invalid(place):
    """A clearly read zone with a wrong check digit, or a wrong digit, is rejected."""
    row, column = place
    wrong = str((int(PASSPORT[row][column]) + 1) % 10)
    assert decided(TD3, changed(PASSPORT, row, column, wrong)) is None


def test_check_digits_decide_between_rivals():
    """A misread character is replaced by a likely alternative that satisfies the check digits."""
    misread = changed(PASSPORT, 1, 3, "B")
    decision = decided(TD3, misread, {(1, 3): {"8": math.log(0.2)}})
    assert decision is not None
    assert decision.rows == PASSPORT


def test_unlikely_rivals_do_not_make_a_zone_valid():
    """Clearly read characters are not changed to satisfy check digits."""
    wrong = changed(PASSPORT, 1, 3, "0")
    assert decided(TD3, wrong, {(1, 3): {"8": math.log(0.001)}}) is None


def test_a_card_ends_where_its_letters_must_be_digits():
    """A letter in a date is replaced only by a digit among its alternatives."""
    misread = changed(CARD, 1, 0, "T")
    assert decided(TD1, misread) is None
    assert decided(TD1, misread, {(1, 0): {"7": math.log(0.1)}}).rows == CARD


@pytest.mark.parametrize(
    ("text", "is_past", "day"),
    [
        ("740812", True, date(1974, 8, 12)),
        ("251122", True, date(2025, 11, 22)),
        ("261124", True, date(1926, 11, 24)),
        ("000229", True, date(2000, 2, 29)),
        ("120415", False, date(2012, 4, 15)),
        ("350101", False, date(2035, 1, 1)),
        ("791231", False, date(1979, 12, 31)),
        ("741312", True, None),
        ("74<<<<", True, None),
        ("990229", True, None),
    ],
)
def test_century_follows_from_today(text, is_past, day):
    """A birth date is not in the future; an expiry date is at most fifty years ahead."""
    assert day_of(text, TODAY, is_past=is_past) == day
