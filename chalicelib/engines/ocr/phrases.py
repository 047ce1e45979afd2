"""Decides which gaps of a line separate two items, and which are spaces within one item.

A space of a typewriter can be wider than the gap between two items of a printed page. So gaps are
compared with the spaces of the same line and page. All widths are in heights of the line's ink.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from statistics import median, median_low
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import TextLine
    from chalicelib.engines.ocr.gaps import Range
    from chalicelib.engines.ocr.ink import Ink

# Minimum width of a gap between two items, in spaces.
WIDER = 1.6
# Maximum width of a space in any font.
_WIDEST_SPACE = 0.9
# A gap where the text has no space must be this many times wider.
_INSIDE = 2.0
# It must also be this many times wider than the usual gap between letters.
_LETTER_GAPS = 3.0
# Minimum number of spaces in a line from which its usual space is computed.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap between two runs of ink in a line."""

    width: float
    """Width of the gap, divided by the height of the ink."""
    is_space: bool
    """Whether the line's text has a space at the gap."""


def find_gaps(line: TextLine, ink: Ink) -> list[Gap]:
    """Return the gaps between the runs of ink of a line, from left to right.

    If the positions of characters are unknown, the widest gaps count as spaces.
    """
    widths = [(right[0] - left[1]) / ink.height for left, right in pairwise(ink.spans)]
    if not line.places:
        widest = nlargest(line.text.count(" "), widths)
        return [Gap(width, bool(widest) and width >= widest[-1]) for width in widths]
    middles = [(left[1] + right[0]) / 2 for left, right in pairwise(ink.spans)]
    return [
        Gap(width, _is_space(line, middle)) for width, middle in zip(widths, middles, strict=True)
    ]


def usual_space(lines: Iterable[list[Gap]]) -> float:
    """Return the usual width of a space on a page, from the gaps of its lines; 0 if unknown."""
    spaces = [gap.width for gaps in lines for gap in gaps if gap.is_space]
    return min(_WIDEST_SPACE, median(spaces)) if spaces else 0.0


def phrase_ranges(ink: Ink, gaps: list[Gap], factor: float, space_width: float) -> list[Range]:
    """Join the runs of ink of a line that belong to one item.

    Args:
        ink: ink of a line.
        gaps: gaps of the same line.
        factor: least width of a gap that separates two items.
        space_width: width of a space on the page.

    Returns:
        The beginning and end of each item along the line, 0 to 1.
    """
    at_spaces, inside = _least_gaps(gaps, factor, space_width)
    ranges = [ink.spans[0]]
    for gap, (start, end) in zip(gaps, ink.spans[1:], strict=True):
        if gap.width > (at_spaces if gap.is_space else inside):
            ranges.append((start, end))
        else:
            ranges[-1] = ranges[-1][0], end
    return ranges


def _is_space(line: TextLine, middle: float) -> bool:
    """Return whether one of the characters next to a position is a space."""
    behind = bisect_right(line.places, middle)
    return " " in line.text[max(0, behind - 1) : behind + 1]


def _least_gaps(gaps: list[Gap], factor: float, space_width: float) -> tuple[float, float]:
    """Return the minimum widths of gaps between items: first at a space, then between letters."""
    spaces = [gap.width for gap in gaps if gap.is_space]
    letters = [gap.width for gap in gaps if not gap.is_space]
    own = min(_WIDEST_SPACE, median_low(spaces)) if len(spaces) >= _FEW else 0.0
    at_spaces = max(factor, WIDER * max(own, space_width))
    between = median(letters) if letters else 0.0
    return at_spaces, max(_INSIDE * factor, at_spaces, _LETTER_GAPS * between)
