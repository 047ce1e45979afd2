"""Formats of machine-readable zones: their elements, and what each check digit covers.

TD1, TD2 and TD3 are the formats of ICAO Doc 9303, eighth edition: part 3 (4.9, check digits), part
4 (TD3, passports), part 5 (TD1) and part 6 (TD2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

FILLER = "<"
DIGITS = "0123456789"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# All characters of zones; the index of a digit or capital is its value.
LETTERS = DIGITS + CAPITALS + FILLER
# Groups of characters that are easily confused.
LOOK_ALIKES = ("0O", "1I", "2Z", "5S", "8B")
# Weights of the characters that a check digit covers, repeated.
WEIGHTS = (7, 3, 1)
_LINE_LENGTHS = {"TD1": 30, "TD2": 36, "TD3": 44}

# Row and column of a character, from 0.
Place = tuple[int, int]


def value_of(letter: str) -> int:
    """Return the value of a character in the sum of a check digit; 0 for a filler."""
    return 0 if letter == FILLER else LETTERS.index(letter)


def check_digit(text: str) -> int:
    """Return the check digit, 0 to 9, of a text that consists of characters in LETTERS."""
    weighted = (WEIGHTS[place % 3] * value_of(letter) for place, letter in enumerate(text))
    return sum(weighted) % 10


@dataclass(frozen=True, slots=True)
class DataElement:
    """A part of a row that holds one item, such as a date."""

    row: int
    start: int
    """First column of the element."""
    stop: int
    """Index after the last column of the element."""
    letters: str = LETTERS
    """Characters that the element may contain."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Positions of the element's characters from left to right."""
        return tuple((self.row, column) for column in range(self.start, self.stop))

    def cut(self, rows: Sequence[str]) -> str:
        """Return the text of the element."""
        return rows[self.row][self.start : self.stop]


@dataclass(frozen=True, slots=True)
class ZoneFormat:
    """A format of machine-readable zones: its rows and elements."""

    name: str
    """Name of the format: TD1, TD2 or TD3."""
    row_count: int
    elements: dict[str, DataElement]
    """Elements by name, in reading order. `…_check` is the check digit of the previous element."""
    covered: tuple[str, ...]
    """Names of the elements that the overall check digit covers, in the order of the sum."""

    @property
    def width(self) -> int:
        """Number of characters per row."""
        return _LINE_LENGTHS[self.name]

    def letters_at(self, place: Place) -> str:
        """Return the characters that are allowed at a position."""
        row, column = place
        return next(
            element.letters
            for element in self.elements.values()
            if element.row == row and element.start <= column < element.stop
        )

    def places(self, names: Iterable[str]) -> tuple[Place, ...]:
        """Return the positions of all characters of some elements, element by element."""
        return tuple(place for name in names for place in self.elements[name].places)


_WORDS = CAPITALS + FILLER
_COVERED = ("number", "number_check", "birth", "birth_check", "expiry", "expiry_check", "optional")


def _two_rows(name: str, ends: dict[str, DataElement]) -> ZoneFormat:
    """Make a format of two rows: the elements that TD2 and TD3 share, and those in `ends`."""
    elements = {
        "kind": DataElement(0, 0, 2),
        "issuer": DataElement(0, 2, 5, _WORDS),
        "names": DataElement(0, 5, _LINE_LENGTHS[name], _WORDS),
        "number": DataElement(1, 0, 9),
        "number_check": DataElement(1, 9, 10, DIGITS + FILLER),
        "nationality": DataElement(1, 10, 13, _WORDS),
        "birth": DataElement(1, 13, 19, DIGITS + FILLER),
        "birth_check": DataElement(1, 19, 20, DIGITS),
        "sex": DataElement(1, 20, 21, "MFX" + FILLER),
        "expiry": DataElement(1, 21, 27, DIGITS),
        "expiry_check": DataElement(1, 27, 28, DIGITS),
    } | ends
    return ZoneFormat(
        name, 2, elements, tuple(key for key in (*_COVERED, "optional_check") if key in elements)
    )


TD1 = ZoneFormat(
    "TD1",
    3,
    {
        "kind": DataElement(0, 0, 2),
        "issuer": DataElement(0, 2, 5, _WORDS),
        "number": DataElement(0, 5, 14),
        "number_check": DataElement(0, 14, 15, DIGITS + FILLER),
        "upper_optional": DataElement(0, 15, 30),
        "birth": DataElement(1, 0, 6, DIGITS + FILLER),
        "birth_check": DataElement(1, 6, 7, DIGITS),
        "sex": DataElement(1, 7, 8, "MFX" + FILLER),
        "expiry": DataElement(1, 8, 14, DIGITS),
        "expiry_check": DataElement(1, 14, 15, DIGITS),
        "nationality": DataElement(1, 15, 18, _WORDS),
        "optional": DataElement(1, 18, 29),
        "check": DataElement(1, 29, 30, DIGITS),
        "names": DataElement(2, 0, 30, _WORDS),
    },
    ("number", "number_check", "upper_optional", *_COVERED[2:]),
)
TD2 = _two_rows(
    "TD2", {"optional": DataElement(1, 28, 35), "check": DataElement(1, 35, 36, DIGITS)}
)
TD3 = _two_rows(
    "TD3",
    {
        "optional": DataElement(1, 28, 42),
        "optional_check": DataElement(1, 42, 43, DIGITS + FILLER),
        "check": DataElement(1, 43, 44, DIGITS),
    },
)
FORMATS = (TD1, TD2, TD3)
