"""Finds a machine-readable zone among the lines of a page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.page import (
    Quad,
    ReadPage,
    Rect,
    TextLine,
    around_points,
    between,
)
from chalicelib.engines.ocr.interface import CancelCheck, ScoringEngine, TextEngine, never_cancel
from chalicelib.engines.ocr.mrz.deciding import Decision, Scores, decide
from chalicelib.engines.ocr.mrz.formats import (
    FILLER,
    FORMATS,
    LETTERS,
    LOOK_ALIKES,
    Place,
    ZoneFormat,
)
from chalicelib.engines.ocr.mrz.strips import extend_rows, read_strips

# Letters that may be misread fillers. A recognised filler is always right.
_FILLER_ALIKES = "CK"
# Log probability that a character is in fact a similar one.
_MISTAKEN = math.log(0.05)
# A zone is not read again if its probability among all valid texts is at least this high.
_CLEAR = 0.9
# Number of rows to examine, from the bottom of the page, where zones are.
_MOST_ROWS = 24
# Number of groups of rows to read again, from the bottom of the page.
_MOST_TRIALS = 4
# Minimum length of a row in heights: thirty letters, each wider than a third of the height.
_SLENDER = 10
# Minimum of three fractions: characters of a row that zones can have; length of the longest row
# divided by the format's, or the inverse; width of the narrowest row divided by the widest. Up to
# a fifth of the characters may have been missed or read twice.
_ALIKE = 0.8
# Minimum number of consecutive fillers in one of the rows: after the surname, or at the end.
_FILLERS = 2

# Rows that may be a zone of a format, from the top.
Group = tuple[ZoneFormat, tuple[TextLine, ...]]


@dataclass(frozen=True, slots=True)
class Zone:
    """A machine-readable zone, with the corners of its rows."""

    decision: Decision
    quads: tuple[Quad, ...]
    """Corners of the rows, from the top."""

    def box(self, places: Sequence[Place]) -> Rect:
        """Return a box around the characters at `places` that are in the same row as the first."""
        row = places[0][0]
        columns = [column for at, column in places if at == row]
        width = self.decision.format.width
        return _part(self.quads[row], min(columns) / width, (max(columns) + 1) / width)


def find_zone(
    page: ReadPage, engine: TextEngine | None = None, check: CancelCheck = never_cancel
) -> Zone | None:
    """Find the machine-readable zone of a page.

    Args:
        page: the page, with lines in any order.
        engine: engine that reads unclear rows again, if it can score characters; None to skip
            that.
        check: called regularly; may raise an error to stop.

    Returns:
        The most probable zone with correct check digits; None if there is none.
    """
    unread = (TextLine("", 0.0, place) for place in page.unread)
    groups = list(_groups((*page.lines, *unread)))
    best = _most_probable(map(_as_read, groups))
    if best is not None and best.decision.share >= _CLEAR:
        return best
    if page.pixels is None or page.is_exact or not isinstance(engine, ScoringEngine):
        return best
    again = []
    for form, lines in groups[-_MOST_TRIALS:]:
        quads = extend_rows([line.corners for line in lines])
        decision = read_strips(form, quads, page.pixels, engine, check)
        again.append(None if decision is None else Zone(decision, quads))
    return _most_probable(again) or best


def _most_probable(zones: Iterable[Zone | None]) -> Zone | None:
    found = [zone for zone in zones if zone is not None]
    return max(found, key=lambda zone: zone.decision.certainty, default=None)


def _groups(lines: Sequence[TextLine]) -> Iterator[Group]:
    """Yield groups of rows that may be a zone, each with the zone's format, from top to bottom."""
    rows = sorted(filter(_is_like_row, lines), key=lambda line: line.box.center[1])[-_MOST_ROWS:]
    for start in range(len(rows)):
        for form in FORMATS:
            group = tuple(rows[start : start + form.row_count])
            if len(group) == form.row_count and _may_be(form, group):
                yield form, group


def _is_like_row(line: TextLine) -> bool:
    """Return whether a line may be a row of a zone: it is long, and most characters are allowed."""
    top_left, top_right, _, bottom_left = line.corners
    letters = compact(line.text)
    known = sum(letter in LETTERS for letter in letters)
    is_slender = math.dist(top_left, top_right) > _SLENDER * math.dist(top_left, bottom_left)
    return is_slender and known >= _ALIKE * len(letters)


def _may_be(form: ZoneFormat, lines: Sequence[TextLine]) -> bool:
    """Return whether rows are placed like the rows of a zone in the given format."""
    texts = [compact(line.text) for line in lines]
    longest = max(map(len, texts))
    widths = [line.box.width for line in lines]
    if not _ALIKE <= longest / form.width <= 1 / _ALIKE or min(widths) < _ALIKE * max(widths):
        return False
    if max(text.count(FILLER) for text in texts) < _FILLERS:
        return False
    return all(_is_next(upper, lower) for upper, lower in itertools.pairwise(lines))


def _is_next(upper: TextLine, lower: TextLine) -> bool:
    """Return whether a row is below another one, at the usual distance of rows."""
    height = math.dist(upper.corners[0], upper.corners[3])
    distance = lower.box.center[1] - upper.box.center[1]
    return 0.5 * height < distance < 3 * height


def _as_read(group: Group) -> Zone | None:
    """Convert rows, as they were read, to a zone; None if their lengths do not match the format."""
    form, lines = group
    texts = [compact(line.text) for line in lines]
    if any(len(text) != form.width for text in texts):
        return None
    decision = decide(form, [[_rivals(letter) for letter in text] for text in texts])
    return None if decision is None else Zone(decision, tuple(line.corners for line in lines))


def compact(text: str) -> str:
    """Return a line's text in capitals, without spaces; quotation marks become fillers (`<<`)."""
    return "".join(text.upper().replace("«", "<<").replace("“", "<<").split())


def _rivals(letter: str) -> Scores:
    """Return the characters that a recognised character may stand for, with their scores."""
    rivals: dict[str, float] = {}
    for group in LOOK_ALIKES:
        if letter in group:
            rivals |= dict.fromkeys(group, _MISTAKEN)
    if letter in _FILLER_ALIKES:
        rivals[FILLER] = _MISTAKEN
    if letter in LETTERS:
        rivals[letter] = 0.0
    return rivals


def _part(quad: Quad, start: float, end: float) -> Rect:
    """Return the box of part of a row; start and end are fractions of the row's length."""
    top_left, top_right, bottom_right, bottom_left = quad

    return around_points(
        between(left, right, share)
        for left, right in ((top_left, top_right), (bottom_left, bottom_right))
        for share in (start, end)
    )
