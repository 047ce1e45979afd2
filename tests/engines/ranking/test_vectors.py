"""Random projections of vectors."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.ranking.vectors import DIMS, short_vectors, unit


def test_short_vectors_keep_how_near_samples_are() -> None:
    """Projected vectors keep cosines within about a tenth and have length one."""
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
    """A zero vector stays zero."""
    assert not short_vectors(np.zeros((1, 7), np.float32)).any()
