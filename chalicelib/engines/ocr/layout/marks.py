"""Finds the marks of list items: bullets, numbers and letters at the beginning of a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Word processors write bullets as characters of the private use area.
_BULLET = re.compile(r"([•·‣⁃◦▪▫●○■◆➢❖\uf0a7\uf0b7\uf0d8]|[-–—*o](?= )) *(?=\S)")
# These also begin lines that are not list items.
_WEAK = frozenset("-–—*o")
_NUMBER = re.compile(r"(\(?)([0-9]{1,3}|[ivx]{2,4}|[a-z])([.)]) +(?=\S)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

# Style and value of a number or letter, such as ("(1)", 3) for "(3)" or ("a)", 2) for "b)".
Value = tuple[str, int]
_NONE: frozenset[Value] = frozenset()
# An asterisk is a bullet if several lines have one; otherwise it is the mark of a footnote.
_ASTERISK = frozenset({("*", 0)})


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a list item."""

    text: str
    length: int
    """Number of characters up to the text of the item."""
    is_weak: bool
    """Whether the mark also begins lines that are not list items."""
    values: frozenset[Value] = _NONE
    """Possible values of a number or letter, because "i" is both; empty for most bullets.

    An asterisk has a value because it may also be the mark of a footnote.
    """

    @property
    def is_bullet(self) -> bool:
        """Whether the mark is a bullet, not a number or letter."""
        return not self.values or self.values == _ASTERISK


def find_mark(line: str) -> Mark | None:
    """Return the mark with which a line begins, or None."""
    if bullet := _BULLET.match(line):
        own = _ASTERISK if bullet[1] == "*" else _NONE
        return Mark(bullet[1], bullet.end(), bullet[1] in _WEAK, own)
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


def listed_values(lines: Iterable[str]) -> frozenset[Value]:
    """Return the values of lists: the previous or next value, or another asterisk, has a line."""
    marks = map(find_mark, lines)
    values = Counter(value for mark in marks if mark is not None for value in mark.values)
    return frozenset(
        (style, number)
        for (style, number), count in values.items()
        if values.keys() & {(style, number - 1), (style, number + 1)}
        or (style == "*" and count > 1)
    )
