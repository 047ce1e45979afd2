"""Finds the order in which text with Hebrew or Arabic letters is read.

Runs in the child process that reads PDFs (child.py); imports only the standard library. A page
shows characters from left to right. This module undoes the reordering of the Unicode bidirectional
algorithm (UAX #9). A line of a page needs only the levels 0 to 2 of this algorithm.

logical_order(["1", "2", " ", "b", "a"], True) -> [4, 3, 2, 0, 1]   where a and b are Hebrew
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

# Letters that are written from right to left, with their presentation forms.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")
_LETTERS = {"R": "R", "AL": "R", "L": "L", "EN": "N", "AN": "N"}
# Marks that belong to a number next to them, and those between two numbers; Arabic has fewer.
_NEXT_TO_NUMBER, _BETWEEN_NUMBERS, _BETWEEN_ARABIC = ("ET",), ("CS", "ES"), ("CS",)
_PAIRS = ("()", "[]", "{}", "<>", "\u00ab\u00bb")
_NEUTRAL = ""
# The letter that begins the ligature with alef, whose letters PDFs have in either order.
_LAM = "\u0644"


def is_right_to_left(text: str) -> bool:
    """Return whether a text contains letters of a right-to-left script."""
    return _RIGHT_TO_LEFT.search(text) is not None


def is_spacing(text: str) -> bool:
    """Return whether a character takes space on its line, unlike a vowel mark on a letter."""
    return unicodedata.bidirectional(text[0]) != "NSM"


def reading_rank(text: str) -> tuple[bool, bool]:
    """Return a sort key for characters at the same position: lam before alef, marks last."""
    return not is_spacing(text), text != _LAM


def is_mostly_right_to_left(texts: Iterable[str]) -> bool:
    """Return whether most letters in the texts belong to right-to-left scripts."""
    kinds = [_LETTERS.get(unicodedata.bidirectional(text[0])) for text in texts]
    return kinds.count("R") > kinds.count("L")


def logical_order(units: Sequence[str], is_page_reversed: bool) -> list[int]:
    """Return the indexes of the characters of a line (`units`) in reading order.

    Args:
        units: characters, each with its combining marks, from left to right.
        is_page_reversed: whether most letters of the page belong to right-to-left scripts.
    """
    kinds = _kinds(units)
    levels = (_levels_of_reversed if _begins_right(kinds, is_page_reversed) else _levels)(kinds)
    order = list(range(len(units)))
    for level in (1, 2):
        for start, end in _stretches([levels[index] >= level for index in order]):
            order[start:end] = reversed(order[start:end])
    return order


def _begins_right(kinds: Sequence[str], is_page_reversed: bool) -> bool:
    """Return whether a line, given the kinds of its characters, is read from its right end."""
    letters = [kind for kind in kinds if kind in ("L", "R")]
    is_more = letters.count("R") > letters.count("L")
    # The first letter of a line mostly has the line's own direction.
    if letters[-1:] == ["L"]:
        return is_more and (is_page_reversed or letters[0] == "R")
    return is_more or is_page_reversed


def paired(text: str) -> str:
    """Mirror brackets in a text, so that each pair opens before it closes.

    In right-to-left text, some brackets are stored as displayed, and others are stored mirrored.
    """
    for pair in _PAIRS:
        places = [at for at, character in enumerate(text) if character in pair]
        if len(places) % 2 or _is_balanced([text[at] for at in places], pair):
            continue
        letters = list(text)
        for number, at in enumerate(places):
            letters[at] = pair[number % 2]
        text = "".join(letters)
    return text


def _is_balanced(brackets: Sequence[str], pair: str) -> bool:
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == pair[0] else -1
        if depth < 0:
            return False
    return depth == 0


def _kinds(units: Sequence[str]) -> list[str]:
    """Return the kind of each character: right to left, left to right, number or neutral."""
    classes = [unicodedata.bidirectional(unit[0]) for unit in units]
    kinds = [_LETTERS.get(each, _NEUTRAL) for each in classes]
    is_arabic = "AL" in classes
    between = _BETWEEN_ARABIC if is_arabic else _BETWEEN_NUMBERS
    for at, each in enumerate(classes):
        left, right = kinds[max(0, at - 1)], kinds[min(len(kinds) - 1, at + 1)]
        is_inside = each in between and left == right == "N"
        is_unit = not is_arabic and each in _NEXT_TO_NUMBER and "N" in (left, right)
        if is_inside or is_unit:
            kinds[at] = "N"
    return kinds


def _neighbours(kinds: Sequence[str], skipped: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the nearest kind left and right of each character, ignoring the kinds `skipped`."""
    sides = []
    for way in (1, -1):
        last, found = _NEUTRAL, []
        for kind in kinds[::way]:
            found.append(last)
            last = last if kind in skipped else kind
        sides.append(found[::way])
    return list(zip(*sides, strict=True))


def _levels_of_reversed(kinds: Sequence[str]) -> list[int]:
    """Return the bidirectional level of each character in a line that is read from the right."""
    # A number to the right of Latin words belongs to them, as in the name of a product.
    inner = (("L", "L"), ("L", "N"))
    around = _neighbours(kinds, (_NEUTRAL,))
    return [
        2 if kind in ("L", "N") or (kind == _NEUTRAL and sides in inner) else 1
        for kind, sides in zip(kinds, around, strict=True)
    ]


def _levels(kinds: Sequence[str]) -> list[int]:
    """Return the bidirectional level of each character in a line that is read from the left."""
    levels = []
    around = _neighbours(kinds, (_NEUTRAL, "N"))
    for kind, sides in zip(kinds, around, strict=True):
        is_within = sides == ("R", "R")
        levels.append(1 if kind == "R" else 0 if not is_within else 2 if kind == "N" else 1)
    # A left-to-right letter keeps level 0, even between right-to-left letters.
    return [0 if kind == "L" else level for kind, level in zip(kinds, levels, strict=True)]


def _stretches(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the start index and the end index of each run of true values in `flags`."""
    changes = [at for at, (a, b) in enumerate(pairwise([False, *flags, False])) if a != b]
    return list(zip(changes[::2], changes[1::2], strict=True))
