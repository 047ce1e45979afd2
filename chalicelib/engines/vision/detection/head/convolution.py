"""Computes a 3 x 3 convolution of a feature map as nine matrix products.

A map is stored row by row in a buffer, with one empty position after each row and an empty margin
at both ends of the buffer. So the offset in the buffer from a cell to its neighbour, such as the
upper left one, is the same for all cells. A shifted map is a view of the buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Floats

# Cells under a 3 x 3 kernel, in reading order.
NEIGHBOURS = 9


@dataclass(frozen=True)
class PaddedGrid:
    """The positions of the cells of a square feature map in a padded buffer."""

    cells: int
    """Number of rows of the square map, equal to its number of columns."""

    @property
    def positions(self) -> int:
        """Number of positions of all rows, including the empty position after each row."""
        return self.cells * (self.cells + 1)

    @property
    def margin(self) -> int:
        """Number of empty positions in the margin at each end of the buffer."""
        return self.cells + 2

    def buffer(self, channels: int, dtype: npt.DTypeLike) -> Floats:
        """Return a buffer of zeros, shape (positions + 2 * margin, channels)."""
        return np.zeros((self.positions + 2 * self.margin, channels), dtype)

    def inside(self, buffer: Floats) -> Floats:
        """Return a view of the buffer without its margins, shape (positions, channels)."""
        return buffer[self.margin : self.margin + self.positions]

    def image(self, buffer: Floats) -> Floats:
        """Return a view of the buffer's cells only, shape (cells, cells, channels)."""
        rows = self.inside(buffer).reshape(self.cells, self.cells + 1, -1)
        return rows[:, : self.cells]

    def clear_gaps(self, buffer: Floats) -> None:
        """Set the empty position after each row of the buffer to zero."""
        self.inside(buffer).reshape(self.cells, self.cells + 1, -1)[:, self.cells] = 0.0

    def shifted(self, buffer: Floats, neighbour: int) -> Floats:
        """Return a view of the buffer: at each position, the value of one of its neighbours.

        The shape is (positions, channels).

        Args:
            buffer: buffer of a map.
            neighbour: index of the neighbour in the 3 x 3 cells around a cell, row by row, 0 to 8.
        """
        down, right = divmod(neighbour, 3)
        first = self.margin + (down - 1) * (self.cells + 1) + right - 1
        return buffer[first : first + self.positions]


def convolve(
    grid: PaddedGrid, values: Floats, weights: Floats, out: Floats, scratch: Floats
) -> None:
    """Compute the convolution of a feature map, and write it to `out`.

    Args:
        grid: positions of the map's cells.
        values: the map's buffer, shape (.., channels in).
        weights: weights of the convolution, shape (9, channels in, channels out).
        out: receives the result, shape (positions, channels out); values between rows are
            undefined.
        scratch: working space, same shape as `out`.
    """
    np.matmul(grid.shifted(values, 0), weights[0], out=out)
    for neighbour in range(1, NEIGHBOURS):
        np.matmul(grid.shifted(values, neighbour), weights[neighbour], out=scratch)
        out += scratch
