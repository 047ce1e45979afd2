"""Finds regions that may be tables without ruled cells.

Such regions are between horizontal ruled lines of the same width, or their rows leave gutters free:
white gaps between columns. sifting.py decides later which regions are tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from chalicelib.domain.documents.page import Rect, TextLine, around
from chalicelib.engines.ocr.grouping import grouped
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.rows import (
    Span,
    aligned_share,
    covered,
    gaps,
    group_rows,
    narrowed,
    pieces_inside,
    white_below,
)
from chalicelib.engines.ocr.tables.rulings import Ruling


@dataclass(frozen=True, slots=True)
class Region:
    """Text that may be a table."""

    pieces: tuple[TextLine, ...]
    box: Rect
    """Box around the text, and around the region's ruled lines if it has any."""
    is_ruled: bool = False
    """Whether ruled lines as wide as the text are above and below it."""


@dataclass(slots=True)
class Growing:
    """Rows of text that may become a region, added from top to bottom."""

    text_height: float
    """Usual text height, in pixels."""
    rows: list[list[TextLine]] = field(default_factory=list)
    pending: list[list[TextLine]] = field(default_factory=list)
    """Rows that belong to the region only if a row with several columns follows."""
    gutters: list[Span] = field(default_factory=list)
    """Gutters: horizontal intervals that all rows leave free."""
    whites: list[float] = field(default_factory=list)
    """Heights of the gaps between the rows, in pixels."""

    def takes(self, row: list[TextLine]) -> bool:
        """Add the next row if it fits. Return False if the region ends before this row."""
        if not self.rows:
            self.gutters = gaps(covered(row))
            if self.gutters:
                self.rows.append(row)
            return True
        white = white_below((self.pending or self.rows)[-1], row)
        if white > self._most_white():
            return False
        rest = narrowed(self.gutters, row, settings.CELL_GAP_HEIGHTS * self.text_height)
        if is_parted(row, rest) and len(rest) >= max(1, 0.5 * len(self.gutters)):
            self._commit(row, rest, white)
            return True
        is_end = len(row) > 1 and not rest
        if is_end or len(self.pending) >= settings.MOST_HEADER_ROWS:
            return False
        self.pending.append(row)
        return True

    def regions(self, rulings: Iterable[Ruling]) -> Iterator[Region]:
        """Yield the regions that the collected rows form."""
        if len(self.rows) > 1:
            self.keep_wrapped()
            pieces = tuple(piece for row in self.rows for piece in row)
            box = around(piece.box for piece in pieces)
            is_ruled = any(_belongs(rule, box, self.text_height) for rule in rulings)
            yield Region(pieces, box, is_ruled)

    def keep_wrapped(self) -> None:
        """Add the pending rows that only continue cells of the last row."""
        usual = median(self.whites) if self.whites else 0.0
        for row in self.pending if self.rows else ():
            last = self.rows[-1]
            near = white_below(last, row) < settings.WRAPPED_TO_ROW_SPACE * usual + 4
            if not near or aligned_share(row, last, self.text_height) < 1:
                return
            self.rows.append(row)

    def _most_white(self) -> float:
        if not self.whites:
            return settings.FIRST_ROW_EMS * self.text_height
        return settings.LATER_ROW_TIMES * median(self.whites) + 2

    def _commit(self, row: list[TextLine], rest: list[Span], white: float) -> None:
        """Add the pending rows, then `row`, which has text on both sides of gutters in `rest`."""
        self.rows += [*self.pending, row]
        self.pending = []
        # Rows that overlap, such as those of a header with names of two lines, have no gap.
        if white > 0:
            self.whites.append(white)
        self.gutters = rest


def is_parted(row: Sequence[TextLine], gutters: Iterable[Span]) -> bool:
    """Return whether a row has pieces on both sides of a gutter."""
    first = min(piece.box.max_x for piece in row)
    last = max(piece.box.min_x for piece in row)
    return any(first <= end and start <= last for start, end in gutters)


def _belongs(rule: Ruling, box: Rect, text_height: float) -> bool:
    """Return whether a horizontal ruled line is as wide as a text, and inside or next to it."""
    slack = settings.RULE_BEYOND_EMS * text_height
    near = settings.NEAR_RULE_EMS * text_height
    return (
        box.min_y - near <= rule.position <= box.max_y + near
        and box.min_x - slack <= rule.start <= box.min_x + slack
        and box.max_x - slack <= rule.end <= box.max_x + slack
    )


def ruled_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield a region for the text inside each group of horizontal ruled lines of the same width.

    `pieces` and `rulings` must be outside other tables; `text_height` is in pixels.
    """
    for group in _rule_groups(rulings, text_height):
        box = Rect(
            min(rule.start for rule in group),
            group[0].position,
            max(rule.end for rule in group),
            group[-1].position,
        )
        inside = tuple(pieces_inside(pieces, box))
        if len(inside) > 1:
            yield Region(inside, box, is_ruled=True)


def _rule_groups(rulings: Sequence[Ruling], text_height: float) -> list[list[Ruling]]:
    """Return groups of two or more ruled lines whose ends are at the same x, from the top."""
    slack = settings.NEAR_RULE_EMS * text_height
    groups = grouped(
        rulings,
        lambda group, rule: (
            max(abs(group[0].start - rule.start), abs(group[0].end - rule.end)) <= slack
        ),
    )
    return [group for group in groups if len(group) > 1]


def aligned_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield regions of consecutive rows that leave the same gutters free.

    `pieces` and `rulings` must be outside other tables; `text_height` is in pixels.
    """
    growing = Growing(text_height)
    body = [piece for piece in pieces if piece.box.height < settings.HEADLINE_TIMES * text_height]
    for row in group_rows(body):
        if not growing.takes(row):
            yield from growing.regions(rulings)
            above, growing = growing.rows, Growing(text_height)
            # Below a title, which leaves other gutters free, the last row may begin a table.
            if len(above) < settings.FEWEST_EVIDENCE:
                growing.takes(above[-1])
            if not growing.takes(row):
                growing = Growing(text_height)
                growing.takes(row)
    yield from growing.regions(rulings)
