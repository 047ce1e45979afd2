"""Finds a machine-readable zone among the lines of a page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.page import Point, ReadPage, Rect, TextLine, around_points
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel
from chalicelib.engines.ocr.mrz.deciding import Decision, Scores, decide
from chalicelib.engines.ocr.mrz.formats import FILLER, FORMATS, LETTERS, Place, ZoneFormat

_LOOK_ALIKES = ("0OQD", "1IL", "2Z", "5S", "8B", "6G")
_FILLER_ALIKES = "CK"
"""Letters that fillers are read as; what was read as a filler is one."""
_MISTAKEN = math.log(0.05)
"""How likely a character of a line is one that looks like it."""
_MOST_ROWS = 24
"""Rows of a page that are looked at, from its foot: zones stand below all else."""
_SHORTEST = 0.8
"""A row has at least such a share of a format's characters."""


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone and where its rows stand."""

    decision: Decision
    lines: tuple[TextLine, ...]
    """Its rows."""

    def box(self, places: Sequence[Place]) -> Rect:
        """Return where characters of one row stand; the rest of the zone when of several."""
        row = places[0][0]
        columns = [column for at, column in places if at == row]
        width = self.decision.format.width
        return _part(self.lines[row], min(columns) / width, (max(columns) + 1) / width)


def find_zone(page: ReadPage, check: CancelCheck = never_cancel) -> Zone | None:
    """Find the zone of a page.

    Args:
        page: its lines in any order.
        check: see chalicelib/engines/ocr/interface.py.

    Returns:
        The zone whose check digits hold, the surest of several; None without any.
    """
    rows = [line for line in page.lines if _is_like_zone(line.text)]
    rows = sorted(rows, key=lambda line: line.box.center[1])[-_MOST_ROWS:]
    best: Zone | None = None
    for form in FORMATS:
        for start in range(len(rows) - form.row_count + 1):
            check()
            lines = tuple(rows[start : start + form.row_count])
            if not _stand_together(lines):
                continue
            decision = _decision(form, lines)
            if decision is not None and (
                best is None or decision.certainty > best.decision.certainty
            ):
                best = Zone(decision, lines)
    return best


def _decision(form: ZoneFormat, lines: Sequence[TextLine]) -> Decision | None:
    """Read lines as a zone of a format; None when they are not as long as its rows."""
    texts = [compact(line.text) for line in lines]
    if any(len(text) != form.width for text in texts):
        return None
    return decide(form, [[_rivals(letter) for letter in text] for text in texts])


def compact(text: str) -> str:
    """Return the characters of a line as a zone has them."""
    return "".join(text.upper().replace("«", "<<").replace("“", "<<").split())


def _rivals(letter: str) -> Scores:
    """Return what a character that was read may be."""
    rivals: dict[str, float] = {}
    for group in _LOOK_ALIKES:
        if letter in group:
            rivals |= dict.fromkeys(group, _MISTAKEN)
    if letter in _FILLER_ALIKES:
        rivals[FILLER] = _MISTAKEN
    if letter in LETTERS:
        rivals[letter] = 0.0
    return rivals


def _is_like_zone(text: str) -> bool:
    """Return whether a line may be a row of a zone: long, of its characters, with fillers."""
    letters = compact(text)
    shortest = min(form.width for form in FORMATS) * _SHORTEST
    known = sum(letter in LETTERS for letter in letters)
    return (
        len(letters) >= shortest
        and known >= _SHORTEST * len(letters)
        and (FILLER * 2 in letters or letters[:1] in "IPAC")
    )


def _stand_together(lines: Sequence[TextLine]) -> bool:
    """Return whether lines stand below each other at distances of a zone, equally long."""
    widths = [line.box.width for line in lines]
    if min(widths) < _SHORTEST * max(widths):
        return False
    for upper, lower in itertools.pairwise(lines):
        height = min(upper.box.height, lower.box.height)
        distance = lower.box.center[1] - upper.box.center[1]
        if not 0.5 * height < distance < 3 * height:
            return False
    return True


def _part(line: TextLine, start: float, end: float) -> Rect:
    """Return the box of a part of a line, given as shares of its length."""
    top_left, top_right, bottom_right, bottom_left = line.corners

    def between(left: Point, right: Point, share: float) -> Point:
        return (
            left[0] + share * (right[0] - left[0]),
            left[1] + share * (right[1] - left[1]),
        )

    return around_points(
        between(left, right, share)
        for left, right in ((top_left, top_right), (bottom_left, bottom_right))
        for share in (start, end)
    )
