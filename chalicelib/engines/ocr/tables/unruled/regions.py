"""Finds regions that may be tables without ruled cells.

Such regions are between horizontal ruled lines of the same width, or their rows leave gutters free:
white gaps between columns. sifting.py decides later which regions are tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from chalicelib.domain.documents.page import Rect, TextLine, around
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.heading import is_numeric
from chalicelib.engines.ocr.tables.rows import (
    Span,
    covered,
    gaps,
    group_rows,
    joined,
    narrowed,
    pieces_inside,
    row_box,
)
from chalicelib.engines.ocr.tables.rulings import Ruling


@dataclass(frozen=True, slots=True)
class Region:
    """Text that may be a table."""

    pieces: tuple[TextLine, ...]
    """Text of the region."""
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
    """Rows of the region."""
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
        white = _white((self.pending or self.rows)[-1], row)
        if white > self._most_white():
            return False
        rest = self._rest(row)
        if is_parted(row, rest) and len(rest) >= max(1, 0.5 * len(self.gutters)):
            self._commit(row, rest, white)
            return True
        is_end = len(row) > 1 and not rest
        if is_end or len(self.pending) >= settings.MOST_PENDING_ROWS:
            return False
        self.pending.append(row)
        return True

    def regions(self, rulings: Iterable[Ruling]) -> Iterator[Region]:
        """Yield the regions that the collected rows form."""
        if len(self.rows) > 1:
            self.keep_wrapped()
            for pieces in _side_by_side(self.rows, self.text_height):
                box = around(piece.box for piece in pieces)
                is_ruled = any(_belongs(rule, box, self.text_height) for rule in rulings)
                yield Region(tuple(pieces), box, is_ruled)

    def keep_wrapped(self) -> None:
        """Add the pending rows that only continue cells of the last row."""
        usual = median(self.whites) if self.whites else 0.0
        for row in self.pending if self.rows else ():
            last = self.rows[-1]
            near = _white(last, row) < settings.WRAPPED_TO_ROW_SPACE * usual + 4
            if not near or not all(self._is_below(piece, last) for piece in row):
                return
            self.rows.append(row)

    def _is_below(self, piece: TextLine, row: Sequence[TextLine]) -> bool:
        """Return whether a piece is aligned with a cell of a row: at the left, right or middle."""
        box, slack = piece.box, 0.5 * self.text_height
        return any(
            min(
                abs(box.min_x - other.box.min_x),
                abs(box.max_x - other.box.max_x),
                abs(box.center[0] - other.box.center[0]),
            )
            <= slack
            for other in row
        )

    def _most_white(self) -> float:
        if not self.whites:
            return settings.FIRST_ROW_EMS * self.text_height
        return settings.LATER_ROW_TIMES * median(self.whites) + 2

    def _rest(self, row: Sequence[TextLine]) -> list[Span]:
        """Return the parts of the gutters that stay free of text if this row is added."""
        return narrowed(self.gutters, row, settings.CELL_GAP_HEIGHTS * self.text_height)

    def _commit(self, row: list[TextLine], rest: list[Span], white: float) -> None:
        """Add the pending rows, then a row with several columns."""
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


def _white(first: Sequence[TextLine], second: Sequence[TextLine]) -> float:
    one, other = row_box(first), row_box(second)
    return max(other.min_y - one.max_y, one.min_y - other.max_y)


def _side_by_side(
    rows: Sequence[Sequence[TextLine]], text_height: float
) -> Iterator[list[TextLine]]:
    """Split rows into two tables at a gutter that is much wider than all others.

    The rows stay together if the column after the gutter has mostly numbers: the numbers belong to
    the row names on the left.
    """
    pieces = [piece for row in rows for piece in row]
    columns = joined(
        (piece.box.min_x, piece.box.max_x) for row in rows if len(row) > 1 for piece in row
    )
    first = _widest_gutter(columns, text_height)
    start, end = (0.0, 0.0) if first is None else columns[first]
    names = [piece.text for piece in pieces if start <= piece.box.center[0] <= end]
    if 2 * sum(map(is_numeric, names)) >= len(names):
        yield pieces
        return
    yield [piece for piece in pieces if piece.box.center[0] < start]
    yield [piece for piece in pieces if piece.box.center[0] >= start]


def _widest_gutter(columns: Sequence[Span], text_height: float) -> int | None:
    """Return the index of the column after a gutter much wider than all others, or None."""
    widths = [end - start for start, end in gaps(columns)]
    ordered = sorted(widths, reverse=True)
    if len(ordered) < 3 or ordered[0] < max(
        settings.PARTING_GUTTER_TIMES * ordered[1], settings.PARTING_GUTTER_EMS * text_height
    ):
        return None
    first = widths.index(ordered[0]) + 1
    return first if 1 < first < len(columns) - 1 else None


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
    groups: list[list[Ruling]] = []
    for rule in rulings:
        for group in groups:
            first = group[0]
            if max(abs(first.start - rule.start), abs(first.end - rule.end)) <= (
                settings.NEAR_RULE_EMS * text_height
            ):
                group.append(rule)
                break
        else:
            groups.append([rule])
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
