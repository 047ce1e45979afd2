"""Layout of the features of one view, which are stored as one row of numbers.

A row contains three feature maps, the finest first. Each has shape (cells, cells, channels).
Channels are the last axis, so that a projection is one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves, Singles

# Width and height of a view in pixels.
SIDE = 416
# Width and height of the three maps in cells.
CELLS = (52, 26, 13)
# Channels of the three maps.
CHANNELS = (176, 248, 480)
# Pixels of a view per cell of the finest map.
STRIDE = SIDE // CELLS[0]
# Numbers in a row.
ROW_VALUES = sum(cells * cells * width for cells, width in zip(CELLS, CHANNELS, strict=True))


@dataclass(frozen=True)
class Maps:
    """The feature maps of one view, each float, shape (cells * cells, channels), row by row."""

    fine: Singles
    """52 x 52 cells, 176 channels."""
    middle: Singles
    """26 x 26 cells, 248 channels."""
    coarse: Singles
    """13 x 13 cells, 480 channels."""


def maps_of(row: Halves) -> Maps:
    """Convert a stored row, float16, shape (ROW_VALUES,), to feature maps in float32.

    Raises:
        ValueError: the row does not have `ROW_VALUES` numbers.
    """
    if row.shape != (ROW_VALUES,):
        raise ValueError(f"A row of detection features has {ROW_VALUES} numbers, not {row.size}.")
    parts, first = [], 0
    for cells, width in zip(CELLS, CHANNELS, strict=True):
        last = first + cells * cells * width
        parts.append(row[first:last].astype(np.float32).reshape(cells * cells, width))
        first = last
    return Maps(*parts)
