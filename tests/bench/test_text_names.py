"""The calibration error of few texts: that of perfect probabilities, and one without bias."""

from __future__ import annotations

import numpy as np

from bench.text_names import perfect_error, unbiased_square


def test_the_error_of_perfect_probabilities_falls_with_more_texts() -> None:
    """Certain answers have none; otherwise each bin of few texts misses its accuracy by chance."""
    certain = np.tile([1.0, 0.0], (200, 1))
    unsure = np.tile([0.7, 0.3], (200, 1))
    assert perfect_error(certain) == 0
    # The mean distance of the accuracy of 200 / 15 texts from .7: a half-normal mean.
    expected = np.sqrt(0.7 * 0.3 * 15 / 200 * 2 / np.pi)
    assert abs(perfect_error(unsure) - expected) < 0.015
    assert perfect_error(np.tile(unsure, (20, 1))) < expected / 3


def test_the_error_without_bias_is_the_true_one_even_if_bins_have_few_texts() -> None:
    """Perfect probabilities have none on average; accuracy .2 below them is an error of .2."""
    dice, shares = np.random.default_rng(0), np.tile([0.7, 0.3], (200, 1))
    for accuracy, expected in ((0.7, 0.0), (0.5, 0.2)):
        draws = [unbiased_square(shares, dice.random(200) >= accuracy) for _ in range(400)]
        assert abs(np.mean(draws) - expected**2) < 0.002
