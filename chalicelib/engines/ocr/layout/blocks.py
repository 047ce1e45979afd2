"""Combines the lines of a page into blocks: paragraphs, headings and single lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, median_low

from chalicelib.domain.documents.layout import ReadingPlace
from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.layout.columns import (
    Piece,
    Row,
    find_free,
    flows,
    is_prose,
    level_pieces,
)
from chalicelib.engines.ocr.order import page_slope


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a single line."""

    rows: list[Row]
    """Lines of the block. Each is a list of runs, or of parts of runs."""
    right: float
    """Right edge at which the lines of the block are wrapped, in pixels."""

    def flows_on(self, number: int) -> bool:
        """Return whether a line was wrapped: the next line's first word did not fit into it."""
        row, follower = self.rows[number], self.rows[number + 1]
        if _has_tab(row) or _has_tab(follower):
            return False
        first = follower[0]
        letter = (first.right - first.left) / max(1, first.length)
        return row[-1].right + _WIDEST * letter * (first.first_word + 1) > self.right

    def columns(self) -> list[list[Row]]:
        """Return the pieces of each line by columns; empty if most lines have one column.

        Columns are divided by gaps of all lines that are wider than a space.
        """
        pieces = [piece for row in self.rows for piece in row]
        width = _TAB * median(piece.height for piece in pieces)
        ends = [end for _, end in find_free(pieces, width)[1:-1]]
        found: list[list[Row]] = [[[] for _ in range(len(ends) + 1)] for _ in self.rows]
        for row, cells in zip(self.rows, found, strict=True):
            for piece in row:
                cells[bisect_right(ends, piece.left)].append(piece)
        divided = [cells for cells in found if sum(map(bool, cells)) > 1]
        is_list = self.rows[0][0].mark is not None
        return [] if is_list or len(divided) < max(2, len(found) / 2) else found


# Maximum distance between lines of a block, as a multiple of the usual distance in its flow.
_WIDER = 1.3
# Maximum distance between lines of a block, in heights.
_FAR = 2.0
# Ratio of heights from which two lines are in different blocks.
_OTHER_PRINT = 1.25
# Maximum width of a word's letters, as a multiple of the mean width of letters and spaces.
_WIDEST = 1.25
# Maximum width of a space, in heights.
_TAB = 2.0
# Minimum fraction of a flow's width that a block of two lines fills if its longer line was wrapped.
_WIDE = 0.6
# A line that begins further to the right begins a paragraph, in heights.
_INDENT = 0.8
# Text that begins further to the right than this is not an indent.
_DEEP = 4.0


def arrange(
    runs: Sequence[TextLine], *, is_exact: bool, places: Sequence[Rect] = ()
) -> list[Block]:
    """Group runs of words into blocks, in reading order.

    Args:
        runs: runs of words on one upright page; they may overlap.
        is_exact: whether the runs come from a text layer.
        places: boxes of tables; their indexes follow the indexes of the runs.

    Returns:
        Blocks that contain each run once. A run across columns is split. Vertical text is last.
    """
    pieces = level_pieces(runs, page_slope(runs), is_exact=is_exact, places=places)
    upright: list[Piece] = []
    turned: list[Piece] = []
    for piece in pieces:
        (turned if piece.is_turned and piece.index < len(runs) else upright).append(piece)
    bold = {index for index, run in enumerate(runs) if run.is_bold}
    found: list[Block] = []
    for flow in flows(upright):
        # Lines of normal text fill the width of their flow; lines of an address do not.
        left = min(row[0].left for row in flow)
        right = max(piece.right for row in flow for piece in row)
        for rows in _blocks(flow):
            own = max(piece.right for row in rows for piece in row)
            is_wide = len(rows) > 2 or own - rows[0][0].left >= _WIDE * (right - left)
            has_margin = is_wide and is_prose(rows) and not any(row[0].mark for row in rows)
            block = Block(rows, own if has_margin else right)
            found += _parted_by_weight(block, bold)
    return found + [Block([[piece]], piece.right) for piece in turned]


def without_mark(row: Row) -> Row:
    """Return a row without its first piece if that is only the mark of a list item."""
    mark = row[0].mark
    return row[1:] if mark and len(mark.text) == row[0].length and len(row) > 1 else row


def reading_places(blocks: Sequence[Block]) -> list[ReadingPlace]:
    """Return the position of each run: number of its block, of its line, and of the run itself.

    Numbers begin at 1. A split run has the numbers of its first part.
    """
    places: dict[int, ReadingPlace] = {}
    line_number = 0
    for block_number, block in enumerate(blocks, 1):
        for line in block.rows:
            line_number += 1
            for part in line:
                place = ReadingPlace(block_number, line_number, len(places) + 1)
                places.setdefault(part.index, place)
    return [places[run] for run in range(len(places))]


def _blocks(rows: list[Row]) -> Iterator[list[Row]]:
    """Split the rows of a column into blocks, at wide gaps, changes of letter size and indents."""
    middles = [fmean(piece.middle for piece in row) for row in rows]
    steps = [below - above for above, below in pairwise(middles)]
    usual = median_low(steps) if steps else 0.0
    left = min(row[0].left for row in rows)
    block = rows[:1]
    for number, step in enumerate(steps):
        above, below = rows[number], rows[number + 1]
        least = min(_WIDER * usual, _FAR * min(_height(above), _height(below)))
        follower = rows[number + 2] if number + 2 < len(rows) else None
        if step > least or _differs_in_size(above, below) or _begins(above, below, follower, left):
            yield block
            block = []
        block.append(below)
    yield block


def _parted_by_weight(block: Block, bold: set[int]) -> Iterator[Block]:
    """Split a block between a bold and a normal line, if the upper line ends early."""
    start = 0
    for number, (above, below) in enumerate(pairwise(block.rows)):
        is_bold, is_next_bold = (all(one.index in bold for one in row) for row in (above, below))
        has_tab = _has_tab(above) or _has_tab(below)
        if is_bold != is_next_bold and not has_tab and not block.flows_on(number):
            yield Block(block.rows[start : number + 1], block.right)
            start = number + 1
    yield Block(block.rows[start:], block.right)


def _has_tab(row: Row) -> bool:
    """Return whether a row has a gap that is wider than a space, except after a list mark."""
    return any(
        right.left - left.right > _TAB * max(left.height, right.height)
        for left, right in pairwise(without_mark(row))
    )


def _height(row: Row) -> float:
    return max(piece.height for piece in without_mark(row))


def _differs_in_size(above: Row, below: Row) -> bool:
    least, most = sorted((_height(above), _height(below)))
    return most > _OTHER_PRINT * least


def _begins(above: Row, row: Row, below: Row | None, left: float) -> bool:
    """Return whether a row is the indented first row of a paragraph, not part of a list item."""
    if above[0].mark is not None:
        return False
    indent = (row[0].left - left) / _height(row)
    neighbours = [other for other in (above, below) if other is not None]
    return _INDENT < indent < _DEEP and all(
        other[0].left - left < _INDENT / 2 * _height(other) for other in neighbours
    )
