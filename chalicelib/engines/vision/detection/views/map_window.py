"""Cuts a part out of the maps of a view: a step on a part costs a fraction of one on the whole.

The head sees 7 cells around each cell, and the networks have seen the whole view, so nearly all
that a cell can tell is there. Boxes are not cut: a cell goes on pointing to the sides of its box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.views.maps import CELLS, Maps, flat, images_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Bools, Halves, Ints


@dataclass(frozen=True)
class MapWindow:
    """A square part of the maps; everything in cells of the coarsest."""

    top: int
    """First row."""
    left: int
    """First column."""
    side: int
    """Rows and columns."""

    @property
    def cells(self) -> tuple[int, int, int]:
        """Rows and columns of the part in each map, the finest first."""
        fine, middle, coarse = (self.side * cells // CELLS[-1] for cells in CELLS)
        return fine, middle, coarse

    def maps(self, row: Halves) -> Maps:
        """Cut the part out of the maps of a view, float16, shape (ROW_VALUES,)."""
        return Maps(*(flat(self._part(image)) for image in images_of(row)))

    def moved(self, cells: Ints) -> tuple[Ints, Bools]:
        """Find cells of the finest map in the part.

        Args:
            cells: indexes in the whole map, in reading order, int, shape (n,).

        Returns:
            Indexes in the part of those that lie in it, and which do, bool, shape (n,).
        """
        scale, side = CELLS[0] // CELLS[-1], self.cells[0]
        rows = cells // CELLS[0] - self.top * scale
        columns = cells % CELLS[0] - self.left * scale
        is_inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
        return (rows * side + columns)[is_inside], is_inside

    def _part(self, image: Halves) -> Halves:
        scale = len(image) // CELLS[-1]
        rows = slice(self.top * scale, (self.top + self.side) * scale)
        return image[rows, self.left * scale : (self.left + self.side) * scale]


def draw_map_window(shown: Ints, side: int, seed: Sequence[int]) -> MapWindow:
    """Draw a part that holds one of some cells.

    Args:
        shown: cells of the finest map to choose from, int; anywhere when there is none.
        side: rows and columns of the part, in cells of the coarsest map.
        seed: numbers that choose it.

    Returns:
        The same for the same numbers.
    """
    generator = np.random.Generator(np.random.PCG64(list(seed)))
    last = CELLS[-1] - side
    lows, highs = (0, 0), (last, last)
    if len(shown):
        cell = int(shown[generator.integers(len(shown))])
        place = [index * CELLS[-1] // CELLS[0] for index in divmod(cell, CELLS[0])]
        lows = max(0, place[0] - side + 1), max(0, place[1] - side + 1)
        highs = min(last, place[0]), min(last, place[1])
    top, left = (
        int(generator.integers(low, high + 1)) for low, high in zip(lows, highs, strict=True)
    )
    return MapWindow(top, left, side)
