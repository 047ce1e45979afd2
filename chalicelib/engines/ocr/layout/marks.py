"""Finds the marks of list items: bullets, numbers and letters at the beginning of a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Word processors write bullets as characters of the private use area.
_BULLET = re.compile(r"([•·‣⁃◦▪▫●○■◆➢❖\uf0a7\uf0b7\uf0d8]|[-–—o](?= )) *(?=\S)")
# These also begin lines that are not list items.
_WEAK = frozenset("-–—o")
_NUMBER = re.compile(r"(\(?)([0-9]{1,3}|[ivx]{2,4}|[a-z])([.)]) +(?=\S)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

# Style and value of a number or letter, such as ("(1)", 3) for "(3)" or ("a)", 2) for "b)".
Value = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a list item."""

    text: str
    length: int
    """Number of characters up to the text of the item."""
    is_weak: bool
    """Whether the mark also begins lines that are not list items."""
    values: frozenset[Value] = frozenset()
    """Possible values of a number or letter, because "i" is both; empty for a bullet."""


def find_mark(line: str) -> Mark | None:
    """Return the mark with which a line begins, or None."""
    if bullet := _BULLET.match(line):
        return Mark(bullet[1], bullet.end(), bullet[1] in _WEAK)
    if number := _NUMBER.match(line):
        before, token, after = number.groups()
        values = frozenset((before + style + after, value) for style, value in _values(token))
        return Mark(number[0].rstrip(), number.end(), True, values)
    return None


def _values(token: str) -> Iterator[Value]:
    if token.isdecimal():
        yield "1", int(token)
    if token in _ROMAN:
        yield "i", _ROMAN.index(token)
    if len(token) == 1 and token.isalpha():
        yield "a", ord(token)


def consecutive_values(lines: Iterable[str]) -> frozenset[Value]:
    """Return the values of marks whose previous or next value also begins a line."""
    marks = map(find_mark, lines)
    values = {value for mark in marks if mark is not None for value in mark.values}
    return frozenset(
        (style, number)
        for style, number in values
        if {(style, number - 1), (style, number + 1)} & values
    )
