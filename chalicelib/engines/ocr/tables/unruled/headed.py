"""Finds tables below a row of column headers: items, hours, bank statements.

Each header begins a column. The table ends before the first row that does not fit: one with a
piece that spans several headers, or after a large gap. A row without a value continues the cells
of a neighbouring row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables import measures
from chalicelib.engines.ocr.tables.filling import in_reading_order
from chalicelib.engines.ocr.tables.grid import FilledGrid
from chalicelib.engines.ocr.tables.heading import is_label, is_numeric, is_wordy
from chalicelib.engines.ocr.tables.pieces import cut
from chalicelib.engines.ocr.tables.rows import Span, group_rows, row_box
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.unruled.alignment import placed_grid
from chalicelib.engines.ocr.tables.unruled.growing import widest_gutter

Row = list[TextLine]


@dataclass(slots=True)
class _Line:
    """A row of text below the header."""

    pieces: Row
    lanes: list[int]
    """Column of each piece."""
    has_value: bool
    """Whether the text is a complete table row, see `HeadedTable._is_row`."""
    white: float
    """White space above the line, in pixels."""


class HeadedTable:
    """A table header and the rows below that fit."""

    def __init__(self, header: Row, rules: Sequence[Ruling], text_height: float) -> None:
        self.height = text_height
        self.head = [header]
        self.lines: list[_Line] = []
        self._lanes: list[Span] = [(piece.box.min_x, piece.box.max_x) for piece in header]
        self._headers = list(self._lanes)
        self._rules = [
            rule.position
            for rule in rules
            if rule.start <= self._lanes[0][0] + text_height
            and rule.end >= self._lanes[-1][1] - text_height
        ]

    def begins_below(self, above: Row) -> bool:
        """Add the row above to the header if it is part of a header of two rows.

        Return False if a piece of the row above spans several columns: the row below is then not a
        header.
        """
        white = row_box(self.head[0]).min_y - row_box(above).max_y
        if white > measures.HEADER_LINE_EMS * self.height or self._is_ruled_between(
            above, self.head[0]
        ):
            return True
        reached = [self._reached(piece.box) for piece in above]
        if any(len(lanes) > 1 for lanes in reached):
            return False
        if all(reached) and len(above) < len(self._lanes) and _is_header(above, 1):
            self.head.insert(0, above)
        return True

    def take(self, row: Row) -> bool:
        """Add the next row if it fits; return False if the table ends before it."""
        above = self.lines[-1].pieces if self.lines else self.head[-1]
        row = [part for piece in row for part in self._parted(piece)]
        white = row_box(row).min_y - max(piece.box.max_y for piece in above)
        lanes = self._assigned(row)
        if lanes is None or white > self._most_white():
            return False
        has_number = any(is_numeric(piece.text) for piece in row)
        if not self.lines and not has_number and white <= measures.HEADER_LINE_EMS * self.height:
            self.head.append(row)
            return len(self.head) <= 3
        line = _Line(row, lanes, self._is_row(lanes, has_number), white)
        if not line.has_value and not self._may_follow(line, above):
            return False
        self.lines.append(line)
        for piece, lane in zip(row, lanes, strict=True):
            start, end = self._lanes[lane]
            self._lanes[lane] = min(start, piece.box.min_x), max(end, piece.box.max_x)
        return True

    def _reached(self, box: Rect) -> list[int]:
        """Return the numbers of the columns that a box overlaps."""
        slack = min(
            measures.UNDER_NEXT_HEADER_EMS * self.height,
            measures.UNDER_NEXT_HEADER_SHARE * box.width,
        )
        return [
            lane
            for lane, ((start, end), (first, last)) in enumerate(
                zip(self._lanes, self._headers, strict=True)
            )
            if min(end, box.max_x) - max(start, box.min_x) > slack
            or min(last, box.max_x) - max(first, box.min_x) > slack
        ]

    def _parted(self, piece: TextLine) -> list[TextLine]:
        """Split a piece that is below several headers, at words that begin at a column's side."""
        reached = self._reached(piece.box)
        if len(reached) < 2 or not piece.places:
            return [piece]
        marks = [
            start
            for start in _word_starts(piece)
            if any(
                abs(start - side) <= measures.HEADER_ASIDE_EMS * self.height
                for lane in reached[1:]
                for side in (self._lanes[lane][0], self._headers[lane][0])
            )
        ]
        return cut(piece, marks) if marks else [piece]

    def _assigned(self, row: Row) -> list[int] | None:
        """Return the column of each piece; None if one spans several, or is left of the table."""
        lanes: list[int] = []
        for piece in row:
            reached = self._reached(piece.box)
            if len(reached) > 1 or piece.box.max_x < self._lanes[0][0]:
                return None
            lanes.append(reached[0] if reached else self._aligned(piece.box))
        return lanes

    def _aligned(self, box: Rect) -> int:
        """Return the column whose header is best aligned with a box: at left, right or middle."""

        def distance(lane: int) -> float:
            start, end = self._headers[lane]
            middle = (start + end) / 2
            sides = (box.min_x - start, box.max_x - end, box.center[0] - middle)
            return min(map(abs, sides))

        left = [lane for lane, (start, _) in enumerate(self._headers) if start <= box.center[0]]
        nearest = left[-1] if left else 0
        return min((nearest, min(nearest + 1, len(self._headers) - 1)), key=distance)

    def _is_row(self, lanes: Sequence[int], has_number: bool) -> bool:
        """Return whether text is a table row, and not a sum below the rows or a continued text.

        It must begin in the left half, and fill at least half of the columns.
        """
        filled, count = {*lanes}, len(self._lanes)
        if 2 * min(filled) >= count:
            return False
        return 2 * len(filled) >= count + (0 if has_number else 1)

    def _most_white(self) -> float:
        """Return the height of the largest gap that does not end the table."""
        whites = [line.white for line in self.lines if line.has_value]
        if not whites:
            return measures.BELOW_HEADER_EMS * self.height
        return max(measures.BELOW_HEADER_ROW_TIMES * median(whites), self.height)

    def _may_follow(self, line: _Line, above: Row) -> bool:
        """Return whether a row without a value may belong to the table.

        It has text in a column of words, and no ruled line ends the table above it.
        """
        valued = any(each.has_value for each in self.lines)
        if valued and not self._wordy_lanes().intersection(line.lanes):
            return False
        is_closed = self._is_ruled_between(above, line.pieces) and not any(
            position > row_box(line.pieces).max_y for position in self._rules
        )
        return not is_closed

    def _wordy_lanes(self) -> set[int]:
        """Return the columns that have words in some table row."""
        return {
            lane
            for line in self.lines
            if line.has_value
            for piece, lane in zip(line.pieces, line.lanes, strict=True)
            if not is_numeric(piece.text)
        }

    def _are_two(self) -> bool:
        """Return whether the text is two tables side by side, each with a column of words."""
        part = widest_gutter(self._lanes, self.height)
        return part is not None and part in self._wordy_lanes()

    def _is_ruled_between(self, above: Row, below: Row) -> bool:
        """Return whether a ruled line as wide as the table is between two rows."""
        top, bottom = row_box(above).center[1], row_box(below).center[1]
        return any(top < position < bottom for position in self._rules)

    def finish(self) -> FilledGrid | None:
        """Return slots and text of the table; None without a row of values."""
        usual = self._usual_white()
        last = max((at for at, line in enumerate(self.lines) if line.has_value), default=-1)
        while last + 1 < len(self.lines) and self.lines[last + 1].white <= usual + 1:
            last += 1
        self.lines = self.lines[: last + 1]
        filled = {lane for line in self.lines for lane in line.lanes}
        is_certain = len(filled) == len(self._lanes) and self._has_numbers()
        if not is_certain or self._has_more_columns() or self._are_two():
            return None
        return self._grid(self._numbers(usual))

    def _has_numbers(self) -> bool:
        """Return whether any column contains mostly numbers."""
        counts = [[0, 0] for _ in self._lanes]
        for line in self.lines:
            for piece, lane in zip(line.pieces, line.lanes, strict=True):
                counts[lane][is_numeric(piece.text)] += line.has_value
        return any(numbers >= max(1, words) for words, numbers in counts)

    def _has_more_columns(self) -> bool:
        """Return whether two separate pieces of a row are below one header."""
        return any(
            lanes[0] == lanes[1]
            and (
                right.box.min_x - left.box.max_x > self.height
                or (is_numeric(left.text) and is_numeric(right.text))
            )
            for line in self.lines
            for (left, right), lanes in zip(
                pairwise(line.pieces), pairwise(line.lanes), strict=True
            )
            if len(left.text) > 1
        )

    def _usual_white(self) -> float:
        """Return the usual height of the gaps between table rows."""
        return median([line.white for line in self.lines if line.has_value] or [0.0])

    def _numbers(self, usual: float) -> list[int]:
        """Return the number of the table row of each row of text; 0 is the first below the header.

        A row of text without values belongs to the nearer of its neighbours.
        """
        numbers, leads = [0], False
        for at, (above, line) in enumerate(pairwise(self.lines), 2):
            goes_on = leads or line.white < 0 or self._goes_on(above, line, usual)
            numbers.append(numbers[-1] + (0 if goes_on else 1))
            after = self.lines[at].white if at < len(self.lines) else usual
            leads = (
                not line.has_value
                and not goes_on
                and after < measures.WRAPPED_BELOW_HEADER_SHARE * usual
            )
        return numbers

    def _goes_on(self, above: _Line, line: _Line, usual: float) -> bool:
        """Return whether a row of text only continues cells of the row above."""
        if line.has_value:
            return False
        is_near = line.white < measures.WRAPPED_BELOW_HEADER_SHARE * usual
        return is_near or (line.white <= usual + 1 and self._is_wrapped(above, line))

    def _is_wrapped(self, above: _Line, line: _Line) -> bool:
        """Return whether a row's first word would not have fitted into the row above."""
        first = line.pieces[0]
        word = first.box.width * len(first.text.split()[0]) / len(first.text)
        same = [
            piece
            for piece, lane in zip(above.pieces, above.lanes, strict=True)
            if lane == line.lanes[0]
        ]
        room = self._lanes[line.lanes[0]][1]
        return bool(same) and same[-1].box.max_x + word > room

    def _grid(self, numbers: Sequence[int]) -> FilledGrid:
        """Return the table: the header and the rows, assigned to slots."""
        rows = [*self.head, *(line.pieces for line in self.lines)]
        heads = [[self._header_lane(piece.box) for piece in row] for row in self.head]
        owners = [*heads, *(line.lanes for line in self.lines)]
        edges = [self._lanes[0][0]]
        edges += [(left[1] + right[0]) / 2 for left, right in pairwise(self._lanes)]
        grid = placed_grid(
            rows,
            [[(lane, lane) for lane in lanes] for lanes in owners],
            [0] * len(heads) + [number + 1 for number in numbers],
            list(pairwise([*edges, self._lanes[-1][1]])),
        )
        slots = tuple(replace(slot, is_head=slot.row == 0) for slot in grid.slots)
        places: dict[tuple[int, int], Row] = {}
        for row, lanes, number in zip(rows, owners, [-1] * len(heads) + list(numbers), strict=True):
            for piece, lane in zip(row, lanes, strict=True):
                places.setdefault((number + 1, lane), []).append(piece)
        texts = (in_reading_order(places.get((slot.row, slot.column), [])) for slot in slots)
        return FilledGrid(replace(grid, slots=slots), tuple(texts))

    def _header_lane(self, box: Rect) -> int:
        """Return the number of the column whose header is nearest to a box."""
        lanes = range(len(self._headers))
        return min(lanes, key=lambda lane: abs(sum(self._headers[lane]) / 2 - box.center[0]))


def find_headed(
    pieces: Sequence[TextLine], rules: Sequence[Ruling], text_height: float
) -> Iterator[FilledGrid]:
    """Yield the tables that begin with a row of column headers and have a row of values.

    Args:
        pieces: text outside other tables.
        rules: horizontal ruled lines, which may end a table.
        text_height: the usual height of a line, in pixels.
    """
    rows = group_rows(pieces)
    number = failed = 0
    while number < len(rows):
        header, number = rows[number], number + 1
        if not _is_header(header, measures.FEWEST_HEADERS):
            continue
        table = HeadedTable(header, rules, text_height)
        if number > 1 and not table.begins_below(rows[number - 2]):
            continue
        after = number
        while after < len(rows) and table.take(rows[after]):
            after += 1
        filled = table.finish()
        failed = 0 if filled else failed + 1
        if filled is not None:
            number += len(table.lines)
            yield filled
        elif failed == measures.HEADER_TRIES:
            number, failed = after, 0


def _word_starts(piece: TextLine) -> list[float]:
    """Return the x position of each word of a piece, except the first."""
    step = piece.box.width / max(1, len(piece.text))
    return [
        piece.box.min_x + place * piece.box.width - step / 2
        for (before, _), (_, place) in pairwise(zip(piece.text, piece.places, strict=True))
        if before == " "
    ]


def _is_header(row: Sequence[TextLine], least: int) -> bool:
    """Return whether a row may be column headers: several short words, few with digits."""
    with_digits = sum(any(map(str.isdigit, piece.text)) for piece in row)
    return max(least, 2 * with_digits + 1) <= len(row) <= measures.MOST_HEADERS and not any(
        (is_numeric(piece.text) and piece.text != "#")
        or is_wordy(piece.text)
        or is_label(piece.text)
        for piece in row
    )
