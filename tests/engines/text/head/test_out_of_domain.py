"""The rejection threshold."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.text.head.out_of_domain import rejection_threshold


@pytest.mark.parametrize(("rate", "threshold"), [(0.05, 50.0), (0.2, 200.0)])
def test_threshold_is_a_quantile(rate: float, threshold: float) -> None:
    """The threshold is the quantile of training energies at the requested rate."""
    energies = np.random.default_rng(0).permutation(np.arange(1_001.0))

    assert rejection_threshold(energies, rate) == threshold


def test_threshold_of_few_examples_is_below_the_minimum() -> None:
    """With few examples the threshold is below the minimum: 2 minus one half."""
    assert rejection_threshold(np.array([4.0, 2.0]), 0.05) == 1.5


def test_nothing_is_rejected_without_a_rate_or_examples() -> None:
    """Without a rate or examples the threshold is minus infinity."""
    assert rejection_threshold(np.arange(200.0), None) == float("-inf")
    assert rejection_threshold(np.empty(0), 0.05) == float("-inf")
