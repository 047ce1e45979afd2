"""Convolutions as products of matrices, against the definition."""

import numpy as np

from chalicelib.engines.vision.detection.head.convolution import (
    PaddedGrid,
    convolve,
    input_gradient,
    weight_gradient,
)

CELLS, INSIDE, OUTSIDE = 5, 3, 2
GRID = PaddedGrid(CELLS)
GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=(9, INSIDE, OUTSIDE))


def buffer_of(image: np.ndarray) -> np.ndarray:
    """Make a buffer that holds an image of (cells, cells, channels)."""
    buffer = GRID.buffer(image.shape[2], np.float64)
    GRID.image(buffer)[...] = image
    return buffer


def by_definition(image: np.ndarray) -> np.ndarray:
    """Sum over the nine neighbours, zero outside of the image."""
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
    """Nine shifted products give the sum over all neighbours, at the borders too."""
    image = GENERATOR.normal(size=(CELLS, CELLS, INSIDE))

    np.testing.assert_allclose(by_definition(image), convolved(image))


def test_gradients_are_the_adjoint_of_the_convolution():
    """By weights and by input, a gradient times a change is the change of the result."""
    image = GENERATOR.normal(size=(CELLS, CELLS, INSIDE))
    slope = GENERATOR.normal(size=(CELLS, CELLS, OUTSIDE))
    by_weights = np.empty_like(WEIGHTS)
    by_input = GRID.buffer(INSIDE, np.float64)
    inside = GRID.inside(by_input)

    weight_gradient(GRID, buffer_of(image), buffer_of(slope), by_weights)
    input_gradient(GRID, buffer_of(slope), WEIGHTS, inside, np.empty_like(inside))

    value = float((by_definition(image) * slope).sum())
    np.testing.assert_allclose(value, float((by_weights * WEIGHTS).sum()))
    np.testing.assert_allclose(value, float((GRID.image(by_input) * image).sum()))
