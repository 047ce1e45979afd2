"""The gradients of the detection head, against finite differences."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.network import (
    HeadSize,
    TrainingWorkspace,
    Workspace,
    decayed,
    first_weights,
    weights_of,
)
from chalicelib.engines.vision.detection.views.maps import Maps

SIZE = HeadSize(labels=2, width=6, cells=(8, 4, 2), channels=(3, 4, 5))


def drawn_maps(seed: int = 0) -> Maps:
    """Draw random feature maps of a view, float64."""
    generator = np.random.default_rng(seed)
    return Maps(
        *(
            generator.normal(size=(cells * cells, channels))
            for cells, channels in zip(SIZE.cells, SIZE.channels, strict=True)
        )
    )


def drawn_vector() -> np.ndarray:
    """Draw nonzero parameters, float64."""
    vector = first_weights(SIZE, 1).astype(np.float64)
    return vector + 0.1 * np.random.default_rng(2).normal(size=vector.shape)


def test_gradient_agrees_with_finite_differences_of_the_outputs():
    """The gradient of every parameter equals finite differences."""
    maps, vector = drawn_maps(), drawn_vector()
    workspace = TrainingWorkspace(SIZE, np.float64)
    slope = np.random.default_rng(3).normal(size=(64, SIZE.outputs))

    def value(changed: np.ndarray) -> float:
        return float((workspace.forward(weights_of(SIZE, changed), maps) * slope).sum())

    value(vector)
    gradient = np.empty_like(vector)
    workspace.backward(weights_of(SIZE, vector), maps, slope, weights_of(SIZE, gradient))

    numeric = np.array([difference(value, vector, place) for place in range(vector.size)])
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)


def test_float32_gives_what_float64_gives():
    """Float32 differs from float64 by rounding only."""
    maps, vector = drawn_maps(), drawn_vector()
    exact = Workspace(SIZE, np.float64).forward(weights_of(SIZE, vector), maps)
    small = Maps(*(part.astype(np.float32) for part in (maps.fine, maps.middle, maps.coarse)))
    rounded = Workspace(SIZE).forward(weights_of(SIZE, vector.astype(np.float32)), small)

    np.testing.assert_allclose(exact, rounded, rtol=1e-4, atol=1e-4)


def test_a_workspace_remembers_nothing():
    """A workspace used for a second image gives the result of fresh buffers."""
    weights = weights_of(SIZE, drawn_vector())
    used = TrainingWorkspace(SIZE, np.float64)
    used.forward(weights, drawn_maps(0))
    gradient = np.empty(SIZE.parameters)
    used.backward(weights, drawn_maps(0), np.ones((64, 6)), weights_of(SIZE, gradient))

    fresh = TrainingWorkspace(SIZE, np.float64).forward(weights, drawn_maps(5))

    np.testing.assert_array_equal(fresh, used.forward(weights, drawn_maps(5)))


def test_a_training_computes_what_is_served():
    """The faster convolutions of a training differ from the served ones by rounding only."""
    weights = weights_of(SIZE, drawn_vector())

    served, trained = (
        kind(SIZE, np.float64).forward(weights, drawn_maps())
        for kind in (Workspace, TrainingWorkspace)
    )

    np.testing.assert_allclose(served, trained)


def test_a_real_head_has_the_size_of_the_design():
    """A head for one label has about 260 thousand parameters."""
    assert HeadSize(labels=1).parameters == pytest.approx(260_000, rel=0.02)


def test_biases_do_not_decay():
    """Weight decay applies to matrices and not to biases."""
    named = weights_of(SIZE, decayed(SIZE).astype(np.float32))

    assert named.first.all()
    assert not named.sum_bias.any()
    assert not named.output_bias.any()


def difference(function, vector: np.ndarray, place: int, step: float = 1e-6) -> float:
    """Return the central difference of a function by one parameter."""
    low, high = vector.copy(), vector.copy()
    low[place] -= step
    high[place] += step
    return (function(high) - function(low)) / (2 * step)
