"""Centring and scaling of encoder blocks."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.text.head.features import fit_scaling


def test_scaling_by_hand() -> None:
    """Vectors (0, 4) and (2, 8) have mean (1, 6) and RMS distance sqrt 5."""
    blocks = {"a": np.array([[0, 4], [2, 8]], np.float32)}

    scaling = fit_scaling(blocks, ["a"])

    np.testing.assert_allclose(scaling.means[0], [1, 6])
    np.testing.assert_allclose(scaling.norms, [np.sqrt(5)], rtol=1e-6)
    features = scaling.features(blocks, np.array([1, 0]), np.float64)
    np.testing.assert_allclose(features, np.array([[1, 2], [-1, -2]]) / np.sqrt(5), rtol=1e-6)


def test_blocks_weigh_the_same() -> None:
    """An encoder with vectors a thousand times longer has no larger weight."""
    generator = np.random.default_rng(0)
    small = generator.standard_normal((5_000, 3)).astype(np.float32)
    large = 1_000 * generator.standard_normal((5_000, 3)).astype(np.float32) + 7_000
    blocks = {"b": large, "a": small}

    features = fit_scaling(blocks, ["a", "b"]).features(blocks, np.arange(5_000), np.float64)

    np.testing.assert_allclose((features[:, :3] ** 2).sum(axis=1).mean(), 1, rtol=1e-4)
    np.testing.assert_allclose((features[:, 3:] ** 2).sum(axis=1).mean(), 1, rtol=1e-4)


def test_equal_vectors_scale_to_zeros() -> None:
    """A block without variation is centred but not scaled."""
    blocks = {"a": np.full((4, 3), 0.3, np.float32)}

    features = fit_scaling(blocks, ["a"]).features(blocks, np.arange(4), np.float32)

    np.testing.assert_allclose(features, 0, atol=1e-6)
