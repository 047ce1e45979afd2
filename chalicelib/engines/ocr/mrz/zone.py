"""Parses the data of a machine-readable zone: name, number, dates.

Source: ICAO Doc 9303: part 3, section 4 (data elements), and parts 4 to 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from chalicelib.engines.ocr.mrz.deciding import Decision
from chalicelib.engines.ocr.mrz.formats import FILLER, Place

NUMBER = "number"
SURNAME = "surname"
GIVEN_NAMES = "given_names"
NATIONALITY = "nationality"
BIRTH = "birth"
EXPIRY = "expiry"
SEX = "sex"
KIND = "kind"
ISSUER = "issuer"

# A document expires at most this many years from now.
_AHEAD = 50


@dataclass(frozen=True, slots=True)
class ZoneField:
    """One item of a zone, such as a name, with its positions."""

    text: str
    """Text without fillers, with a space between the words of a name. Dates are YYMMDD."""
    probability: float
    """Probability that the text is right, 0 to 1."""
    places: tuple[Place, ...]
    """Positions of the characters in the zone."""
    is_cut: bool = False
    """Whether the text fills its element to the end, so that a name may be cut off."""


def fields_of(decision: Decision) -> Mapping[str, ZoneField]:
    """Return the fields of a zone that are not empty, by name (NUMBER, SURNAME and others)."""
    elements = decision.format.elements
    names = {NUMBER, NATIONALITY, BIRTH, EXPIRY, SEX, KIND, ISSUER}
    found = {name: _field(decision, elements[name].places) for name in names}
    if decision.long_number:
        found[NUMBER] = _field(decision, (*elements[NUMBER].places, *decision.long_number[:-1]))
    places = elements["names"].places
    text = elements["names"].cut(decision.rows)
    middle = text.find(FILLER * 2)
    if middle < 0:
        middle = len(text)
    found[SURNAME] = _field(decision, places[:middle])
    # What follows a second double filler is misread: names have one filler between them.
    given = text[middle:].lstrip(FILLER)
    start = len(text) - len(given)
    end = given.find(FILLER * 2)
    found[GIVEN_NAMES] = _field(decision, places[start : len(text) if end < 0 else start + end + 1])
    return {name: field for name, field in found.items() if field.text}


def _field(decision: Decision, places: tuple[Place, ...]) -> ZoneField:
    """Return the text and probability of the characters at some positions."""
    letters = "".join(decision.rows[row][column] for row, column in places)
    inked = tuple(place for place, letter in zip(places, letters, strict=True) if letter != FILLER)
    weakest = min((decision.chances[row][column] for row, column in inked), default=0.0)
    return ZoneField(
        " ".join(letters.replace(FILLER, " ").split()),
        decision.certainty * weakest,
        inked,
        bool(letters) and letters[-1] != FILLER,
    )


def day_of(text: str, today: date, *, is_past: bool) -> date | None:
    """Convert a date of a zone.

    Args:
        text: YYMMDD.
        today: date from which the century is determined.
        is_past: True for a birthday, which is not after today. False for an expiry date, which is
            at most fifty years ahead.

    Returns:
        The day; None if there is no such day, or if a part of the date is unknown.
    """
    if len(text) != 6 or not text.isdigit():
        return None
    latest = today if is_past else today.replace(year=today.year + _AHEAD, month=12, day=31)
    year = latest.year - (latest.year - int(text[:2])) % 100
    try:
        day = date(year, int(text[2:4]), int(text[4:]))
        return day if day <= latest else day.replace(year=year - 100)
    except ValueError:
        return None
