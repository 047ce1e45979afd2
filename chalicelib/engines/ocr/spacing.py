"""Restores spaces that the engine missed, and finds text that it left out, from a line's ink."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from chalicelib.engines.ocr.ink import Ink, find_ink, unread_parts
from chalicelib.engines.ocr.phrases import Gap, find_gaps, usual_space

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.domain.documents.page import TextLine
    from chalicelib.engines.ocr.interface import CancelCheck

# Minimum width of a space, as a fraction of the usual space.
_SHARE = 0.75
# The same between digits, next to narrow letters, and before a colon: gaps are wider there.
_SHARE_NEXT_TO_NARROW = 0.9
_NARROW = frozenset("1iIjl|")
# Minimum width of a space, in gaps between letters.
_LETTER_GAPS = 2.5
# Minimum width of a space in any font, in heights of the ink.
_LEAST = 0.3
# Minimum width of a space on a page without recognised spaces, in heights of the ink.
_UNKNOWN = 0.45
# Minimum number of spaces in a line from which its usual space is computed.
_FEW = 3
# No space is inserted before these characters, where gaps are wide in print.
_CLOSING = frozenset(",.;!?)]}%'\"")


def with_spaces(line: TextLine, ink: Ink, gaps: Sequence[Gap], space_width: float) -> TextLine:
    """Insert a space into a line's text at each wide gap in its ink.

    Args:
        line: line as an engine read it; a line without positions of its characters is not changed.
        ink: ink of the line.
        gaps: gaps of the line.
        space_width: usual width of a space on the page; 0 if unknown.
    """
    if len(line.places) != len(line.text):
        return line
    return _spaced(line, _overlooked(line, ink, gaps, space_width))


def _overlooked(
    line: TextLine, ink: Ink, gaps: Sequence[Gap], space_width: float
) -> list[tuple[int, float]]:
    """Return the wide gaps without a space: index of the next character, and the gap's middle.

    Middles are positions along the line, 0 to 1.
    """
    spaces = [gap.width for gap in gaps if gap.is_space]
    letters = [gap.width for gap in gaps if not gap.is_space]
    space = min(median(spaces), space_width) if len(spaces) >= _FEW else space_width
    least = max(_LEAST, _LETTER_GAPS * median(letters) if letters else 0.0)
    found = []
    for gap, (left, right) in zip(gaps, pairwise(ink.spans), strict=True):
        middle = (left[1] + right[0]) / 2
        at = bisect_right(line.places, middle)
        if gap.is_space or not _may_part(line.text, at):
            continue
        share = _SHARE_NEXT_TO_NARROW if _is_narrow(line.text[at - 1 : at + 1]) else _SHARE
        if gap.width > max(least, share * space if space else _UNKNOWN):
            found.append((at, middle))
    return found


def _spaced(line: TextLine, gaps: Sequence[tuple[int, float]]) -> TextLine:
    """Insert spaces into a line's text, from the right so that indexes stay valid."""
    text, places = line.text, line.places
    for at, middle in reversed(gaps):
        text = f"{text[:at]} {text[at:]}"
        places = (*places[:at], middle, *places[at:])
    return line if text == line.text else replace(line, text=text, places=places)


def _is_narrow(pair: str) -> bool:
    """Return whether the gap between two characters is often wide, although there is no space."""
    return pair.isdigit() or pair[1] == ":" or not _NARROW.isdisjoint(pair)


def _may_part(text: str, at: int) -> bool:
    """Return whether a missing space may be inserted before a character of a text.

    No space may be inserted before closing punctuation, next to punctuation or a hyphen inside a
    number, or between two narrow letters, as in "still".
    """
    if not 0 < at < len(text) or text[at] in _CLOSING or " " in text[at - 1 : at + 1]:
        return False
    pair = text[at - 1 : at + 1]
    if _NARROW.issuperset(pair) or (pair[0].isdigit() and pair[1] == "-"):
        return False
    around = text[max(0, at - 2) : at + 2]
    return not any(
        left.isdigit() and point in ".,:" and right.isdigit()
        for left, point, right in zip(around, around[1:], around[2:], strict=False)
    )


_LINES_A_CHECK = 50


def spaced_lines(
    pixels: Pixels, lines: Sequence[TextLine], check: CancelCheck
) -> tuple[TextLine, ...]:
    """Insert a space into each line's text at each wide gap in its ink.

    Args:
        pixels: RGB, uint8, shape (height, width, 3).
        lines: lines as an engine read them; lines without positions of their characters are not
            changed.
        check: called regularly; may raise an error to stop.

    Returns:
        The lines, and then the parts of lines that the engine left out, which have empty texts.
    """
    inks = []
    for number, line in enumerate(lines):
        if number % _LINES_A_CHECK == 0:
            check()
        inks.append(find_ink(pixels, line) if line.places else None)
    gaps = [find_gaps(line, ink) if ink else [] for line, ink in zip(lines, inks, strict=True)]
    usual = usual_space(gaps)
    spaced = [
        with_spaces(line, ink, own, usual) if ink else line
        for line, ink, own in zip(lines, inks, gaps, strict=True)
    ]
    pairs = zip(lines, inks, strict=True)
    return (*spaced, *(part for line, ink in pairs if ink for part in unread_parts(line, ink)))
