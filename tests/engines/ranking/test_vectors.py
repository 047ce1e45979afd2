"""Short vectors of samples."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.ranking.vectors import DIMS, short_vectors, unit


def test_short_vectors_keep_how_near_samples_are() -> None:
    """Cosines of random directions and of near ones change by a tenth or so, lengths are one."""
    dice = np.random.default_rng(3)
    rows = dice.normal(size=(60, 384)).astype(np.float32)
    rows[1] = rows[0] + 0.1 * rows[2]
    short = short_vectors(rows)
    assert short.shape == (60, DIMS)
    assert short.dtype == np.float16
    assert np.allclose(np.linalg.norm(short.astype(float), axis=1), 1, atol=2e-3)
    true, found = unit(rows) @ unit(rows).T, short.astype(float) @ short.astype(float).T
    assert np.abs(true - found).mean() < 0.1
    assert found[0, 1] > 0.97


def test_a_row_of_zeros_stays_one() -> None:
    """Nothing is divided by nothing."""
    assert not short_vectors(np.zeros((1, 7), np.float32)).any()
