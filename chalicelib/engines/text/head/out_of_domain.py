"""Computes rejection thresholds from the scores of in-domain texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats


# Minimum number of energies for a quantile; of fewer, the minimum is used.
ENOUGH_FOR_QUANTILE = 100
_MARGIN_DEVIATIONS = 0.5
_STEPS = 4_096.0


FEW_TEXTS = 2_000
# A served model of up to 2,000 texts rejects only this fraction of the texts that out-of-fold
# scores predict. Out-of-fold scores are lower, because their models are trained on fewer texts.
FALL = 0.75


def score_threshold(scores: Floats, rate: float) -> float:
    """Return the domain score below which the finished model rejects texts.

    Args:
        scores: out-of-fold scores of the training texts, float, shape (examples,).
        rate: fraction of in-domain texts that may be rejected.

    Returns:
        The threshold, a multiple of 1/4096.
    """
    asked = min(rate / FALL, 1.0) if len(scores) <= FEW_TEXTS else rate
    return round_threshold(float(np.quantile(scores.astype(np.float64), asked)))


def round_threshold(threshold: float) -> float:
    """Round a threshold to a multiple of 1/4096."""
    return round(threshold * _STEPS) / _STEPS


def rejection_threshold(energies: Floats, rate: float | None) -> float:
    """Return the energy (log-sum-exp of the logits) below which texts are rejected.

    Args:
        energies: out-of-fold energies of the training texts, float, shape (examples,).
        rate: fraction of in-domain texts that may be rejected; None rejects nothing.
    """
    if rate is None or len(energies) == 0:
        return float("-inf")
    ranked = np.sort(energies.astype(np.float64))
    if len(ranked) < ENOUGH_FOR_QUANTILE:
        threshold = float(ranked[0]) - _MARGIN_DEVIATIONS * float(ranked.std())
    else:
        threshold = float(np.quantile(ranked, rate))
    return round_threshold(threshold)
