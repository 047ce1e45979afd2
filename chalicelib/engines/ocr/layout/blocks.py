"""Puts the lines of a page together to blocks: paragraphs, headings and what else stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median_low
from typing import TYPE_CHECKING

from chalicelib.domain.documents.layout import ReadingPlace
from chalicelib.engines.ocr.layout.columns import Row, flows, level_pieces
from chalicelib.engines.ocr.order import page_slope

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import Rect, TextLine

Blocks = list[list[Row]]
"""The blocks of a page, their lines, and in each line the runs or parts of runs."""

_WIDER = 1.3
"""A block ends where lines stand apart by more, in usual distances of its flow."""
_FAR = 2.0
"""No lines of a block stand further apart, in heights."""
_OTHER_PRINT = 1.25
"""Nor does print of another size belong to it: so many times as high."""
_INDENT = 0.8
"""A line that begins further to the right begins a paragraph, in heights."""
_DEEP = 4.0
"""It is no indent when it begins still further to the right."""


def arrange(runs: Sequence[TextLine], *, is_exact: bool, places: Sequence[Rect] = ()) -> Blocks:
    """Say in which order the runs of a page are read.

    Args:
        runs: of one page turned upright; they may overlap.
        is_exact: whether they come from a text layer.
        places: of tables, which are numbered behind the runs.

    Returns:
        Each run once; one that reaches over a gutter in parts.
    """
    pieces = level_pieces(runs, page_slope(runs), is_exact=is_exact, places=places)
    return [block for flow in flows(pieces) for block in _blocks(flow)]


def reading_places(blocks: Blocks) -> list[ReadingPlace]:
    """Number blocks, lines and runs from 1, in the order of the runs' own numbers.

    A run in parts stands where its first part stands.
    """
    places: dict[int, ReadingPlace] = {}
    line_number = 0
    for block_number, block in enumerate(blocks, 1):
        for line in block:
            line_number += 1
            for part in line:
                place = ReadingPlace(block_number, line_number, len(places) + 1)
                places.setdefault(part.index, place)
    return [places[run] for run in range(len(places))]


def _blocks(rows: list[Row]) -> Iterator[list[Row]]:
    """Divide a flow into blocks."""
    middles = [fmean(piece.middle for piece in row) for row in rows]
    steps = [below - above for above, below in pairwise(middles)]
    usual = median_low(steps) if steps else 0.0
    left = min(row[0].left for row in rows)
    block = rows[:1]
    for number, step in enumerate(steps):
        above, below = rows[number], rows[number + 1]
        least = min(_WIDER * usual, _FAR * _height(above))
        follower = rows[number + 2] if number + 2 < len(rows) else None
        if step > least or _is_other_print(above, below) or _begins(above, below, follower, left):
            yield block
            block = []
        block.append(below)
    yield block


def _height(row: Row) -> float:
    """Return how high the print of a row is."""
    return max(piece.height for piece in row)


def _is_other_print(above: Row, below: Row) -> bool:
    """Say whether two rows differ in size."""
    least, most = sorted((_height(above), _height(below)))
    return most > _OTHER_PRINT * least


def _begins(above: Row, row: Row, below: Row | None, left: float) -> bool:
    """Say whether a row is the indented first one of a paragraph between rows at the margin."""
    indent = (row[0].left - left) / _height(row)
    beside = [other for other in (above, below) if other is not None]
    return _INDENT < indent < _DEEP and all(
        other[0].left - left < _INDENT / 2 * _height(other) for other in beside
    )
