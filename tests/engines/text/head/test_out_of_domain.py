"""The rejection threshold."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.text.head.out_of_domain import rejection_threshold


@pytest.mark.parametrize(("rate", "threshold"), [(0.05, 50.0), (0.2, 200.0)])
def test_threshold_is_a_quantile(rate: float, threshold: float) -> None:
    """The asked share of the training energies lies below."""
    energies = np.random.default_rng(0).permutation(np.arange(1_001.0))

    assert rejection_threshold(energies, rate) == threshold


def test_threshold_of_few_examples_is_below_the_minimum() -> None:
    """Energies 2 and 4 deviate by 1: the threshold is 2 less one half."""
    assert rejection_threshold(np.array([4.0, 2.0]), 0.05) == 1.5


def test_nothing_is_rejected_without_a_rate_or_examples() -> None:
    """Minus infinity stands for never."""
    assert rejection_threshold(np.arange(200.0), None) == float("-inf")
    assert rejection_threshold(np.empty(0), 0.05) == float("-inf")
