"""Finds tables with ruled cells, from ruled lines that cross.

Cells without a border between them are joined. Coordinates are pixels of the raster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.grouping import grouped
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.grid import Slot, TableGrid, in_order
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints


def find_lattices(rulings: Rulings, text_height: float) -> Iterator[TableGrid]:
    """Yield the cells of each group of ruled lines that cross, at least two in each direction."""
    slack = max(3.0, settings.SAME_RULE_EMS * text_height)
    for rows, columns in _groups(_crossing(rulings, slack)):
        if len(rows) > 1 and len(columns) > 1:
            horizontal = [rulings.horizontal[row] for row in rows]
            grid = _grid(horizontal, [rulings.vertical[column] for column in columns], text_height)
            if grid is not None:
                yield grid


def _crossing(rulings: Rulings, slack: float) -> Bools:
    """Return which horizontal and vertical ruled lines cross, shape (horizontal, vertical)."""
    flat = np.array([(r.position, r.start, r.end) for r in rulings.horizontal]).reshape(-1, 3)
    tall = np.array([(r.position, r.start, r.end) for r in rulings.vertical]).reshape(-1, 3)
    y, left, right = (flat[:, [k]] for k in range(3))
    x, top, bottom = (tall[:, k] for k in range(3))
    result: Bools = (
        (x >= left - slack) & (x <= right + slack) & (y >= top - slack) & (y <= bottom + slack)
    )
    return result


def _groups(crossing: Bools) -> Iterator[tuple[list[int], list[int]]]:
    left = np.asarray(np.any(crossing, axis=1))
    while left.any():
        rows = np.zeros(crossing.shape[0], np.bool_)
        rows[int(np.flatnonzero(left)[0])] = True
        count = 0
        while rows.sum() > count:
            count = int(rows.sum())
            columns = np.any(crossing[rows], axis=0)
            rows = np.asarray(np.any(crossing[:, columns], axis=1))
        yield np.flatnonzero(rows).tolist(), np.flatnonzero(columns).tolist()
        left = left & ~rows


def _grid(
    horizontal: Sequence[Ruling], vertical: Sequence[Ruling], text_height: float
) -> TableGrid | None:
    """Return the cells between ruled lines; None if there is one cell, or too many for a table."""
    inner_y, inner_x = _boundaries(horizontal, text_height), _boundaries(vertical, text_height)
    edges_x = _add_outer_boundary(inner_x, horizontal, text_height)
    edges_y = _add_outer_boundary(inner_y, vertical, text_height)
    rows, columns = len(edges_y) - 1, len(edges_x) - 1
    if rows < 1 or columns < 1 or rows * columns > settings.MOST_SMALL_PARTS or rows * columns < 2:
        return None
    under = _borders(horizontal, edges_y, edges_x, text_height)
    at_right = _borders(vertical, edges_x, edges_y, text_height).T
    owner = _join_places(under, at_right)
    box = Rect(edges_x[0], edges_y[0], edges_x[-1], edges_y[-1])
    return TableGrid(box, in_order(_slots(owner, edges_x, edges_y)))


def _boundaries(rulings: Iterable[Ruling], text_height: float) -> list[float]:
    """Return the positions of ruled lines; close lines are merged at their mean position."""
    slack = max(4.0, settings.SAME_RULE_EMS * text_height)
    groups = grouped(
        sorted(rulings, key=lambda ruling: ruling.position),
        lambda group, ruling: ruling.position - group[-1].position <= slack,
        only_last=True,
    )
    return [
        sum(ruling.position * ruling.length for ruling in group)
        / sum(ruling.length for ruling in group)
        for group in groups
    ]


def _add_outer_boundary(
    edges: list[float], across: Sequence[Ruling], text_height: float
) -> list[float]:
    """Add an outer boundary where the perpendicular lines `across` end, if there is none there.

    Some tables have no borders at their sides.
    """
    first = float(np.median([ruling.start for ruling in across]))
    last = float(np.median([ruling.end for ruling in across]))
    if edges[0] - first > text_height:
        edges = [first, *edges]
    if last - edges[-1] > text_height:
        edges = [*edges, last]
    return edges


def _borders(
    rulings: Iterable[Ruling], edges: Sequence[float], sides: Sequence[float], text_height: float
) -> Bools:
    """Return a mask of the drawn borders, shape (inner boundaries, cells along a boundary).

    `rulings` are ruled lines in one direction. `edges` has the positions of all boundaries in this
    direction, and `sides` the positions of the boundaries in the other direction.
    """
    inner = np.asarray(edges[1:-1])
    starts, ends = np.asarray(sides[:-1]), np.asarray(sides[1:])
    drawn = np.zeros((len(inner), len(starts)))
    for ruling in rulings:
        near = np.abs(inner - ruling.position) <= max(4.0, settings.SAME_RULE_EMS * text_height)
        shared = np.minimum(ends, ruling.end) - np.maximum(starts, ruling.start)
        drawn[near] += np.maximum(0.0, shared)
    result: Bools = 2 * drawn >= ends - starts
    return result


def _join_places(under: Bools, at_right: Bools) -> Ints:
    """Join cells without a border between them, so that joined cells are rectangles.

    `under` marks borders below cells, shape (rows - 1, columns); `at_right` marks borders at the
    right, shape (rows, columns - 1). Return, for each cell, the number of its joined cell.
    """
    rows, columns = at_right.shape[0], under.shape[1]
    owner = np.arange(rows * columns).reshape(rows, columns)
    while True:
        before = owner.copy()
        _share_numbers(owner, under, at_right)
        for number in np.flatnonzero(np.bincount(owner.ravel()) > 1):
            where = np.argwhere(owner == number)
            if not len(where):  # joined to another one in the meantime
                continue
            (top, left), (bottom, right) = where.min(axis=0), where.max(axis=0)
            inside = owner[top : bottom + 1, left : right + 1]
            for other in np.unique(inside[inside != number]):
                owner[owner == other] = number
        if np.array_equal(before, owner):
            return owner


def _share_numbers(owner: Ints, under: Bools, at_right: Bools) -> None:
    """Give cells without a border between them the smallest number of these cells, in place."""
    while True:
        before = owner.copy()
        for own, other, open_ in (
            (owner[:, :-1], owner[:, 1:], ~at_right),
            (owner[:-1], owner[1:], ~under),
        ):
            least = np.where(open_, np.minimum(own, other), -1)
            np.copyto(own, least, where=open_)
            np.copyto(other, least, where=open_)
        if np.array_equal(before, owner):
            return


def _slots(owner: Ints, edges_x: Sequence[float], edges_y: Sequence[float]) -> Iterator[Slot]:
    rows, columns = np.indices(owner.shape)
    numbers, inverse = np.unique(owner.ravel(), return_inverse=True)
    first = np.full((2, len(numbers)), owner.size)
    last = np.zeros((2, len(numbers)), np.int64)
    for axis, values in enumerate((rows.ravel(), columns.ravel())):
        np.minimum.at(first[axis], inverse, values)
        np.maximum.at(last[axis], inverse, values)
    for top, left, bottom, right in np.concatenate([first, last]).T.tolist():
        box = Rect(edges_x[left], edges_y[top], edges_x[right + 1], edges_y[bottom + 1])
        yield Slot(top, left, box, bottom - top + 1, right - left + 1)
