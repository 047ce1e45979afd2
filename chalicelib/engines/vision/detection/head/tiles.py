"""Computes 3 x 3 convolutions in tiles of 4 x 4 cells, with less than half of the multiplications.

Only trainings use this module: the results differ in the last digits from `convolve`, which
finished models use. Source: Lavin and Gray 2016, Fast Algorithms for Convolutional Neural
Networks, F(4x4, 3x3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Floats
    from chalicelib.engines.vision.detection.head.convolution import PaddedGrid

# Width and height of a tile, and of the cells that it depends on.
TILE, _SEEN = 4, 6
_INPUT = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
_KERNEL = np.array(
    [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ]
)
_OUTPUT = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
)


class TileBuffers:
    """Two work buffers that all layers of a network share, so that they stay in processor cache."""

    def __init__(self, grid: PaddedGrid, channels: int, dtype: npt.DTypeLike) -> None:
        tiles = (grid.cells // TILE) ** 2
        self._numbers = [np.empty(_SEEN**2 * tiles * channels, dtype) for _ in range(2)]

    def take(self, number: int, *shape: int) -> Floats:
        """Return the buffer `number` (0 or 1) with the shape `shape`; its values are undefined."""
        view: Floats = self._numbers[number][: math.prod(shape)].reshape(shape)
        return view


class TileConvolution:
    """One convolution layer, forward and backward, for one image at a time."""

    def __init__(self, grid: PaddedGrid, inside: int, outside: int, buffers: TileBuffers) -> None:
        """Allocate the buffers that the layer needs between the forward and the backward pass.

        Args:
            grid: positions of the map's cells. The map's number of rows is a multiple of 4.
            inside: number of channels of the input.
            outside: number of channels of the result.
            buffers: work buffers for at least max(inside, outside) channels.
        """
        dtype = buffers.take(0, 1).dtype
        self._grid = grid
        self._count = count = grid.cells // TILE
        tiles = count * count
        # Both directions at once: the transforms of a tile are one matrix product.
        self._input, self._kernel, self._output = (
            np.kron(part, part).astype(dtype) for part in (_INPUT, _KERNEL, _OUTPUT)
        )
        self._seen = np.empty((_SEEN**2, tiles, inside), dtype)
        self._gathered = buffers.take(0, _SEEN, _SEEN, count, count, inside)
        self._products = buffers.take(1, _SEEN**2, tiles, outside)
        self._tiles = buffers.take(0, TILE, TILE, count, count, outside)
        self._weights = np.empty((_SEEN**2, inside, outside), dtype)
        self._change = np.empty_like(self._weights)

    def forward(self, values: Floats, kernel: Floats, out: Floats) -> None:
        """Compute the convolution of a feature map, and write it to `out`.

        Args:
            values: buffer of the map; its margins and the gaps between its rows must be zero.
            kernel: weights of the convolution, shape (9, channels in, channels out).
            out: buffer that receives the result; its margins and the gaps between its rows are not
                changed.
        """
        self._gathered[...] = self._view(values, _SEEN, 0)
        _transform(self._input, self._gathered, self._seen)
        _transform(self._kernel, kernel, self._weights)
        np.matmul(self._seen, self._weights, out=self._products)
        _transform(self._output, self._products, self._tiles)
        self._view(out, TILE, self._grid.margin)[...] = self._tiles

    def backward(self, gradient: Floats, by_kernel: Floats, by_values: Floats) -> None:
        """Compute the gradients of the loss for the map of the last call of `forward`.

        Args:
            gradient: buffer with the gradient with respect to the result of `forward`.
            by_kernel: receives the gradient with respect to the kernel, shape (9, channels in,
                channels out).
            by_values: receives the gradient with respect to the map. Its margins and the gaps
                between its rows are undefined.
        """
        self._tiles[...] = self._view(gradient, TILE, self._grid.margin)
        _transform(self._output.T, self._tiles, self._products)
        np.matmul(self._seen.transpose(0, 2, 1), self._products, out=self._change)
        _transform(self._kernel.T, self._change, by_kernel)
        np.matmul(self._products, self._weights.transpose(0, 2, 1), out=self._seen)
        _transform(self._input.T, self._seen, self._gathered)
        by_values[...] = 0.0
        view = self._view(by_values, _SEEN, 0)
        # Neighbouring tiles share cells, so they are added in parts in which no cell occurs twice.
        for rows in (slice(0, TILE), slice(TILE, _SEEN)):
            for columns in (slice(0, TILE), slice(TILE, _SEEN)):
                view[rows, columns] += self._gathered[rows, columns]

    def _view(self, buffer: Floats, side: int, first: int) -> Floats:
        """Return the cells of all tiles as a view, shape (side, side, tiles, tiles, channels).

        Args:
            buffer: buffer of the feature map whose cells are returned.
            side: number of cells on each side of a tile.
            first: position in `buffer` of the first cell of the first tile.
        """
        row, cell = (self._grid.cells + 1) * buffer.strides[0], buffer.strides[0]
        shape = (side, side, self._count, self._count, buffer.shape[1])
        strides = (row, cell, TILE * row, TILE * cell, buffer.strides[1])
        view: Floats = as_strided(buffer[first:], shape, strides)
        return view


def _transform(matrix: Floats, values: Floats, out: Floats) -> None:
    """Multiply the first axis of `values` by a matrix; write the result to `out`."""
    np.matmul(matrix, values.reshape(matrix.shape[1], -1), out=out.reshape(len(matrix), -1))
