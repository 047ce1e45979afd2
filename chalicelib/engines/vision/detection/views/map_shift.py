"""Shifts feature maps of images: an augmentation that does not run the networks again.

A head would memorise feature maps that a training uses repeatedly. So the feature maps and boxes of
an image are shifted by whole cells of the coarsest map.
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

# Maximum horizontal and vertical shift, in cells of the coarsest map.
FARTHEST = 3


@dataclass(frozen=True)
class MapShift:
    """A shift of the feature maps and the boxes of a view, to augment the training."""

    down: int
    """Shift downwards, in cells of the coarsest map."""
    right: int

    def maps(self, maps: Maps) -> Maps:
        """Return shifted feature maps of a view; new cells at the border are zero."""
        fine, middle, coarse = CELLS
        return Maps(
            self._moved(maps.fine, fine),
            self._moved(maps.middle, middle),
            self._moved(maps.coarse, coarse),
        )

    def boxes(self, boxes: Boxes) -> Boxes:
        """Return shifted boxes, float64, shape (boxes, 4), in pixels of the view."""
        pixels = SIDE / CELLS[-1]
        moved: Boxes = boxes + pixels * np.array([self.right, self.down, self.right, self.down])
        return moved

    def _moved(self, part: Singles, cells: int) -> Singles:
        scale = cells // CELLS[-1]
        to_rows, from_rows = _slices(self.down * scale, cells)
        to_columns, from_columns = _slices(self.right * scale, cells)
        image = part.reshape(cells, cells, -1)
        moved = np.zeros_like(image)
        moved[to_rows, to_columns] = image[from_rows, from_columns]
        return moved.reshape(part.shape)


def draw_map_shift(seed: Sequence[int]) -> MapShift:
    """Draw a random shift; equal seeds give equal shifts."""
    generator = np.random.Generator(np.random.PCG64(list(seed)))
    down, right = (int(way) for way in generator.integers(-FARTHEST, FARTHEST + 1, 2))
    return MapShift(down, right)


def _slices(way: int, cells: int) -> tuple[slice, slice]:
    return slice(max(way, 0), cells + min(way, 0)), slice(max(-way, 0), cells + min(-way, 0))
