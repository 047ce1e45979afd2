"""The bounded sample from which a ranking is selected."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.ranking.parts import Judged
from chalicelib.engines.ranking.pool import SamplePool
from chalicelib.engines.ranking.vectors import DIMS


def _part(uncertainties: np.ndarray) -> Judged:
    count = len(uncertainties)
    return Judged(
        names=["a"],
        lines=np.arange(count),
        labels=np.zeros(count, np.int64),
        probabilities=1.0 - uncertainties.astype(np.float64),
        uncertainties=uncertainties.astype(np.float32),
        likeness=np.zeros(count, np.float32),
        vectors=np.zeros((count, DIMS), np.float16),
    )


def _filled(size: int, parts: list[np.ndarray]) -> SamplePool:
    pool = SamplePool(size)
    for number, uncertainties in enumerate(parts):
        pool.add(number, _part(uncertainties))
    return pool


def test_few_samples_are_all_kept() -> None:
    """A few samples are all kept in order, each weighted by its uncertainty."""
    samples, weights = _filled(10, [np.array([0.5, 0.25]), np.array([0.75])]).samples() or ((), ())
    assert weights.tolist() == [0.5, 0.25, 0.75]
    assert samples.parts.tolist() == [0, 0, 1]
    assert samples.rows.tolist() == [0, 1, 0]


def test_none_are_none() -> None:
    """Parts without an answer give an empty sample."""
    assert _filled(10, [np.array([])]).samples() is None


def test_what_is_sure_counts_a_little() -> None:
    """Certain samples have a small weight, so that a selection is always possible."""
    _, weights = _filled(10, [np.zeros(3)]).samples() or ((), np.zeros(3))
    assert (weights > 0).all()


def test_the_sample_is_bounded_and_stands_for_all() -> None:
    """The weights of a bounded sample add up to all uncertainties within a few percent."""
    dice = np.random.default_rng(1)
    parts = [dice.beta(0.5, 2.0, size=1_000) for _ in range(30)]
    samples, weights = _filled(500, parts).samples() or ((), np.zeros(0))
    assert len(weights) == 500
    assert weights.sum() == pytest.approx(sum(part.sum() for part in parts), rel=0.05)
    assert len(set(zip(samples.parts.tolist(), samples.rows.tolist(), strict=True))) == 500
    again, _ = _filled(500, parts).samples() or ((), ())
    assert (again.rows == samples.rows).all()
    # Uncertain ones are kept more often, in proportion.
    assert samples.uncertainties.mean() > 1.5 * np.concatenate(parts).mean()
