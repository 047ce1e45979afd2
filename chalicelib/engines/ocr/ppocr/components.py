"""Connected pixels of a mask, as the outlines that rectangles are laid around.

Works on runs (pixels side by side in a row) instead of pixels, so that a page of noise costs a
fraction of a second too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Runs:
    """Pixels side by side, row by row from the top, each row from the left."""

    rows: Ints
    """Row of each run, int64, shape (runs,)."""
    starts: Ints
    """Its first column."""
    ends: Ints
    """The column behind its last."""
    width: int
    """Columns of the mask."""


def outlines(mask: Mask, least_side: int, most: int) -> list[Ints]:
    """Find groups of pixels that touch at a side or a corner.

    Args:
        mask: bool, shape (height, width); origin at the top left.
        least_side: groups that are narrower or lower are left out, in pixels.
        most: groups to return; the largest are kept.

    Returns:
        For each group the first and last pixel of each of its rows as (x, y), int64,
        shape (points, 2); the largest groups first.
    """
    runs = find_runs(mask)
    if not len(runs.rows):
        return []
    labels = _labels(runs)
    order = np.argsort(labels, kind="stable")
    firsts = np.flatnonzero(np.r_[True, np.diff(labels[order]) != 0])
    pieces = _Pieces(runs, order, firsts)
    chosen = pieces.largest(least_side, most)
    return [pieces.outline(int(index)) for index in chosen]


def find_runs(mask: Mask) -> Runs:
    """Cut the rows of a mask, bool, shape (height, width), into runs."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), bool)
    padded[:, 1:-1] = mask
    changes = np.flatnonzero(padded[:, 1:] != padded[:, :-1])
    rows, columns = np.divmod(changes, width + 1)
    return Runs(rows[::2], columns[::2], columns[1::2], width)


class _Pieces:
    """Runs sorted by the group they belong to."""

    def __init__(self, runs: Runs, order: Ints, firsts: Ints) -> None:
        self._rows, self._starts = runs.rows[order], runs.starts[order]
        self._ends = runs.ends[order]
        self._firsts = firsts
        self._bounds = np.r_[firsts, len(order)]

    def largest(self, least_side: int, most: int) -> Ints:
        """Return the indexes of the largest groups that are wide and high enough."""
        widths = np.maximum.reduceat(self._ends, self._firsts)
        widths -= np.minimum.reduceat(self._starts, self._firsts)
        heights = self._rows[self._bounds[1:] - 1] - self._rows[self._firsts] + 1
        pixels = np.add.reduceat(self._ends - self._starts, self._firsts)
        kept = np.flatnonzero((widths >= least_side) & (heights >= least_side))
        return kept[np.argsort(-pixels[kept], kind="stable")][:most]

    def outline(self, index: int) -> Ints:
        """Return the first and last pixel of each row of a group, int64, shape (points, 2)."""
        own = slice(self._bounds[index], self._bounds[index + 1])
        rows = self._rows[own]
        firsts = np.flatnonzero(np.r_[True, np.diff(rows) != 0])
        left = np.minimum.reduceat(self._starts[own], firsts)
        right = np.maximum.reduceat(self._ends[own], firsts) - 1
        lines = rows[firsts]
        return np.concatenate((np.stack((left, lines), 1), np.stack((right, lines), 1)))


def _labels(runs: Runs) -> Ints:
    """Return for each run the lowest index of the runs it hangs together with."""
    above, below = _touching(runs)
    parents = np.arange(len(runs.rows))
    while True:
        one, other = parents[above], parents[below]
        apart = one != other
        if not apart.any():
            return parents
        above, below, one, other = above[apart], below[apart], one[apart], other[apart]
        np.minimum.at(parents, np.maximum(one, other), np.minimum(one, other))
        parents = _flattened(parents)


def _flattened(parents: Ints) -> Ints:
    """Let every run name the root of its tree."""
    while True:
        shorter = parents[parents]
        if np.array_equal(shorter, parents):
            return parents
        parents = shorter


def _touching(runs: Runs) -> tuple[Ints, Ints]:
    """Return the index pairs of runs of neighbouring rows that touch, corners included."""
    step = runs.width + 2
    row_above = (runs.rows - 1) * step
    first = np.searchsorted(runs.rows * step + runs.ends, row_above + runs.starts, "left")
    last = np.searchsorted(runs.rows * step + runs.starts, row_above + runs.ends, "right")
    counts = np.maximum(last - first, 0)
    below = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(len(below)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(first, counts) + offsets, below
