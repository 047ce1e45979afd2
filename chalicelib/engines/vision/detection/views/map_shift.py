"""Makes a picture look new to the head without running the networks again.

A head would memorise pictures that it sees repeatedly. Their maps are moved by whole cells
of the coarsest map, and the boxes with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.views.maps import CELLS, SIDE, Maps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Singles

    Boxes = Doubles

# Longest way along either side, in cells of the coarsest map.
FARTHEST = 3


@dataclass(frozen=True)
class MapShift:
    """Where one view is moved to in one epoch."""

    down: int
    """Way down, in cells of the coarsest map."""
    right: int
    """Way to the right."""

    def maps(self, maps: Maps) -> Maps:
        """Move the maps of a view; what comes in at the borders is zero."""
        fine, middle, coarse = CELLS
        return Maps(
            self._moved(maps.fine, fine),
            self._moved(maps.middle, middle),
            self._moved(maps.coarse, coarse),
        )

    def boxes(self, boxes: Boxes) -> Boxes:
        """Move boxes, in pixels of the view, float64, shape (boxes, 4)."""
        pixels = SIDE / CELLS[-1]
        moved: Boxes = boxes + pixels * np.array([self.right, self.down, self.right, self.down])
        return moved

    def _moved(self, part: Singles, cells: int) -> Singles:
        """Move one map, float32, shape (cells * cells, channels)."""
        scale = cells // CELLS[-1]
        to_rows, from_rows = _slices(self.down * scale, cells)
        to_columns, from_columns = _slices(self.right * scale, cells)
        image = part.reshape(cells, cells, -1)
        moved = np.zeros_like(image)
        moved[to_rows, to_columns] = image[from_rows, from_columns]
        return moved.reshape(part.shape)


def draw_map_shift(seed: Sequence[int]) -> MapShift:
    """Draw where a view is moved to.

    Args:
        seed: numbers that choose it.

    Returns:
        The same for the same numbers.
    """
    generator = np.random.Generator(np.random.PCG64(list(seed)))
    down, right = (int(way) for way in generator.integers(-FARTHEST, FARTHEST + 1, 2))
    return MapShift(down, right)


def _slices(way: int, cells: int) -> tuple[slice, slice]:
    return slice(max(way, 0), cells + min(way, 0)), slice(max(-way, 0), cells + min(-way, 0))
