"""Convolutions as matrix products, against the definition."""

import numpy as np

from chalicelib.engines.vision.detection.head.convolution import PaddedGrid, convolve
from chalicelib.engines.vision.detection.head.tiles import TileBuffers, TileConvolution

CELLS, INSIDE, OUTSIDE = 8, 3, 2
GRID = PaddedGrid(CELLS)
GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=(9, INSIDE, OUTSIDE))


def buffer_of(image: np.ndarray) -> np.ndarray:
    """Return a buffer that holds an image of (cells, cells, channels)."""
    buffer = GRID.buffer(image.shape[2], np.float64)
    GRID.image(buffer)[...] = image
    return buffer


def by_definition(image: np.ndarray) -> np.ndarray:
    """Sum over the nine neighbours, zero outside the image."""
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    return sum(
        padded[row : row + CELLS, column : column + CELLS] @ WEIGHTS[3 * row + column]
        for row in range(3)
        for column in range(3)
    )


def convolved(image: np.ndarray) -> np.ndarray:
    """Compute the same by shifted products."""
    out = GRID.buffer(OUTSIDE, np.float64)
    inside = GRID.inside(out)
    convolve(GRID, buffer_of(image), WEIGHTS, inside, np.empty_like(inside))
    return GRID.image(out)


def test_a_convolution_is_what_the_definition_says():
    """Nine shifted products equal the definition, also at the borders."""
    image = GENERATOR.normal(size=(CELLS, CELLS, INSIDE))

    np.testing.assert_allclose(by_definition(image), convolved(image))


def tiled() -> TileConvolution:
    """Return a layer that computes in tiles."""
    return TileConvolution(GRID, INSIDE, OUTSIDE, TileBuffers(GRID, INSIDE, np.float64))


def test_tiles_give_what_the_definition_says():
    """Tiles give the same sums and do not write to gaps and margins of the result."""
    image = GENERATOR.normal(size=(CELLS, CELLS, INSIDE))
    out = GRID.buffer(OUTSIDE, np.float64)

    tiled().forward(buffer_of(image), WEIGHTS, out)

    np.testing.assert_allclose(by_definition(image), GRID.image(out))
    np.testing.assert_array_equal(out, buffer_of(GRID.image(out)))


def test_gradients_are_the_adjoint_of_the_convolution():
    """Gradients by weights and by input agree with the change of the result."""
    layer = tiled()
    image = GENERATOR.normal(size=(CELLS, CELLS, INSIDE))
    slope = GENERATOR.normal(size=(CELLS, CELLS, OUTSIDE))
    by_weights, by_input = np.empty_like(WEIGHTS), GRID.buffer(INSIDE, np.float64)

    layer.forward(buffer_of(image), WEIGHTS, GRID.buffer(OUTSIDE, np.float64))
    layer.backward(buffer_of(slope), by_weights, by_input)

    value = float((by_definition(image) * slope).sum())
    np.testing.assert_allclose(value, float((by_weights * WEIGHTS).sum()))
    np.testing.assert_allclose(value, float((GRID.image(by_input) * image).sum()))
