"""The dense head: a network of convolutions that predicts labels and a box for each cell.

Three projections of the feature maps are added. Two 3 x 3 convolutions and a 3 x 3 output layer
follow. Forward and backward passes are in numpy, because no deep learning library is installed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.head.convolution import (
    NEIGHBOURS,
    PaddedGrid,
    convolve,
)
from chalicelib.engines.vision.detection.head.tiles import TileBuffers, TileConvolution
from chalicelib.engines.vision.detection.views.maps import CELLS, CHANNELS, Maps

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Bools, Floats, Singles

# Outputs in addition to the labels: log distances to left, top, right, bottom in cells.
SIDES = 4
_RARE = 0.01
_FIRST_DISTANCE = 4.0
# Small, so that at first the outputs depend almost only on the biases.
_OUTPUT_SPREAD = 0.01


@dataclass(frozen=True)
class HeadSize:
    """Sizes of a dense head. Only the number of labels differs between models."""

    labels: int
    width: int = 96
    """Number of channels of the inner layers."""
    cells: tuple[int, int, int] = CELLS
    """Rows of the three input maps; each map has half the rows of the one before."""
    channels: tuple[int, int, int] = CHANNELS

    @property
    def outputs(self) -> int:
        """Return the number of outputs for each cell."""
        return self.labels + SIDES

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter, by name."""
        fine, middle, coarse = self.channels
        return {
            "fine": (fine, self.width),
            "middle": (middle, self.width),
            "coarse": (coarse, self.width),
            "sum_bias": (self.width,),
            "first": (NEIGHBOURS, self.width, self.width),
            "first_bias": (self.width,),
            "second": (NEIGHBOURS, self.width, self.width),
            "second_bias": (self.width,),
            "output": (NEIGHBOURS, self.width, self.outputs),
            "output_bias": (self.outputs,),
        }

    @property
    def parameters(self) -> int:
        """Return the number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes().values())


@dataclass(frozen=True)
class Weights:
    """The parameters of a head: views of a flat vector, with the shapes of `HeadSize.shapes`."""

    fine: Floats
    middle: Floats
    coarse: Floats
    sum_bias: Floats
    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    output: Floats
    output_bias: Floats


def weights_of(size: HeadSize, vector: Floats) -> Weights:
    """Split a flat parameter vector, float, shape (parameters,), into named parts."""
    parts, first = {}, 0
    for name, shape in size.shapes().items():
        last = first + math.prod(shape)
        parts[name] = vector[first:last].reshape(shape)
        first = last
    return Weights(**parts)


def first_weights(size: HeadSize, seed: int) -> Singles:
    """Return the initial weights of a training, float32, shape (parameters,)."""
    generator = np.random.Generator(np.random.PCG64(seed))
    vector = generator.standard_normal(size.parameters, np.float32)
    weights = weights_of(size, vector)
    for part in (weights.fine, weights.middle, weights.coarse):
        part *= math.sqrt(2.0 / sum(size.channels))
    weights.first[...] *= math.sqrt(2.0 / (NEIGHBOURS * size.width))
    # Half the usual variance, because the output of the first layer is added to the output of this
    # one.
    weights.second[...] *= math.sqrt(1.0 / (NEIGHBOURS * size.width))
    weights.output[...] *= _OUTPUT_SPREAD
    for bias in (weights.sum_bias, weights.first_bias, weights.second_bias):
        bias[...] = 0.0
    # Nearly all cells show no object; a start at 1 % keeps their loss from dominating the first
    # steps.
    weights.output_bias[: size.labels] = math.log(_RARE / (1.0 - _RARE))
    weights.output_bias[size.labels :] = math.log(_FIRST_DISTANCE)
    return vector


def decayed(size: HeadSize) -> Bools:
    """Return whether each parameter has weight decay, bool, (parameters,); biases have none."""
    vector = np.ones(size.parameters, np.float32)
    weights = weights_of(size, vector)
    for bias in (
        weights.sum_bias,
        weights.first_bias,
        weights.second_bias,
        weights.output_bias,
    ):
        bias[...] = 0.0
    return vector > 0


class Workspace:
    """Runs a head on one image at a time, in reused buffers."""

    def __init__(self, size: HeadSize, dtype: npt.DTypeLike = np.float32) -> None:
        self._size = size
        self._grid = grid = PaddedGrid(size.cells[0])
        width = size.width
        self._summed = grid.buffer(width, dtype)
        self._first = grid.buffer(width, dtype)
        self._second = grid.buffer(width, dtype)
        self._output = grid.buffer(size.outputs, dtype)
        self._work = np.empty((grid.positions, width), dtype)
        self._scratch = np.empty((grid.positions, width), dtype)
        self._output_scratch = np.empty((grid.positions, size.outputs), dtype)

    def forward(self, weights: Weights, maps: Maps) -> Floats:
        """Return label logits and logarithms of distances, float, (cells * cells, labels + 4)."""
        grid = self._grid
        self._project(weights, maps)
        self._convolve(0, weights.first, self._summed, self._first)
        self._activate(self._first, weights.first_bias)
        self._convolve(1, weights.second, self._first, self._second)
        # A residual connection, by which gradients reach the first layer undiminished.
        self._activate(self._second, weights.second_bias, grid.inside(self._first))
        self._convolve(2, weights.output, self._second, self._output)
        out = grid.image(self._output)
        out += weights.output_bias
        return out.reshape(-1, self._size.outputs).copy()

    def _project(self, weights: Weights, maps: Maps) -> None:
        fine, middle, coarse = self._size.cells
        width = self._size.width
        # A coarse cell covers 2 x 2 of the next finer map: broadcasting adds it without a copy.
        halved = (maps.middle @ weights.middle).reshape(coarse, 2, coarse, 2, width)
        halved += (maps.coarse @ weights.coarse).reshape(coarse, 1, coarse, 1, width)
        whole = self._work.reshape(-1)[: fine * fine * width].reshape(fine * fine, width)
        np.matmul(maps.fine, weights.fine, out=whole)
        whole += weights.sum_bias
        blocks = whole.reshape(middle, 2, middle, 2, width)
        blocks += halved.reshape(middle, 1, middle, 1, width)
        np.maximum(whole.reshape(fine, fine, width), 0.0, out=self._grid.image(self._summed))

    def _convolve(self, layer: int, kernel: Floats, values: Floats, out: Floats) -> None:
        del layer
        scratch = self._output_scratch if out is self._output else self._scratch
        convolve(self._grid, values, kernel, self._grid.inside(out), scratch)

    def _activate(self, values: Floats, bias: Floats, added: Floats | None = None) -> None:
        inside = self._grid.inside(values)
        inside += bias
        if added is not None:
            inside += added
        np.maximum(inside, 0.0, out=inside)
        self._grid.clear_gaps(values)


class TrainingWorkspace(Workspace):
    """Runs the forward and the backward pass of a head in a training.

    It is faster than `Workspace`, but its results are rounded differently.
    """

    def __init__(self, size: HeadSize, dtype: npt.DTypeLike = np.float32) -> None:
        super().__init__(size, dtype)
        width = size.width
        self._gradient = self._grid.buffer(width, dtype)
        self._back = self._grid.buffer(width, dtype)
        buffers = TileBuffers(self._grid, max(width, size.outputs), dtype)
        self._layers = [
            TileConvolution(self._grid, width, channels, buffers)
            for channels in (width, width, size.outputs)
        ]

    def backward(self, weights: Weights, maps: Maps, gradient: Floats, out: Weights) -> None:
        """Compute the gradient of the loss for the image of the last call of `forward`.

        Args:
            weights: weights of the head.
            maps: feature maps of the image.
            gradient: gradient of the loss with respect to the outputs, float, shape (cells * cells,
                labels + 4).
            out: receives the gradient of the loss with respect to the weights.
        """
        grid, cells = self._grid, self._size.cells[0]
        grid.image(self._output)[...] = gradient.reshape(cells, cells, -1)
        grid.clear_gaps(self._output)
        self._backward_layer(2, self._output, out.output, out.output_bias)
        np.copyto(self._scratch, self._masked(self._second))
        self._backward_layer(1, self._gradient, out.second, out.second_bias)
        # The residual connection passes the gradient unchanged.
        inside = grid.inside(self._back)
        inside += self._scratch
        self._masked(self._first)
        self._backward_layer(0, self._gradient, out.first, out.first_bias)
        self._masked(self._summed)
        self._backward_projections(maps, out)

    def _convolve(self, layer: int, kernel: Floats, values: Floats, out: Floats) -> None:
        self._layers[layer].forward(values, kernel, out)

    def _masked(self, activations: Floats) -> Floats:
        inside = self._grid.inside(self._gradient)
        np.multiply(self._grid.inside(self._back), self._grid.inside(activations) > 0.0, out=inside)
        return inside

    def _backward_layer(self, layer: int, gradient: Floats, kernel: Floats, bias: Floats) -> None:
        self._layers[layer].backward(gradient, kernel, self._back)
        np.add.reduce(self._grid.inside(gradient), axis=0, out=bias)

    def _backward_projections(self, maps: Maps, out: Weights) -> None:
        fine, middle, coarse = self._size.cells
        width = self._size.width
        whole = self._work[: fine * fine]
        whole.reshape(fine, fine, width)[...] = self._grid.image(self._gradient)
        np.matmul(maps.fine.T, whole, out=out.fine)
        np.add.reduce(whole, axis=0, out=out.sum_bias)
        halved = whole.reshape(middle, 2, middle, 2, width).sum(axis=(1, 3))
        np.matmul(maps.middle.T, halved.reshape(-1, width), out=out.middle)
        quartered = halved.reshape(coarse, 2, coarse, 2, width).sum(axis=(1, 3))
        np.matmul(maps.coarse.T, quartered.reshape(-1, width), out=out.coarse)
