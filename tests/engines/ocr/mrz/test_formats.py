"""Formats of machine-readable zones."""

import pytest

from chalicelib.engines.ocr.mrz.formats import FORMATS, TD2, TD3, check_digit
from tests.engines.ocr.mrz.zones import PASSPORT, TWO_ROW_CARD


@pytest.mark.parametrize(
    ("text", "digit"), [("520727", 3), ("AB2134<<<", 5), ("L898902C3", 6), ("<<<<<<<<<", 0)]
)
def test_check_digit_is_that_of_the_standard(text, digit):
    """Check digits equal those in the examples of ICAO Doc 9303."""
    assert check_digit(text) == digit


def test_last_check_digit_covers_number_dates_and_optional_data():
    """The composite check digit of the published passport and card is correct."""
    for form, rows in ((TD3, PASSPORT), (TD2, TWO_ROW_CARD)):
        covered = "".join(form.elements[name].cut(rows) for name in form.covered)
        assert str(check_digit(covered)) == form.elements["check"].cut(rows)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_character_has_one_meaning(form):
    """The elements of a format cover each character exactly once."""
    places = sorted(form.places(form.elements))
    assert places == [(row, at) for row in range(form.row_count) for at in range(form.width)]
