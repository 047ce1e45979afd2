"""Computes probability thresholds that reach a target precision, for the model card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.metrics import wilson_interval

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats

# Precisions for which cards list a threshold.
TARGETS = (0.90, 0.95, 0.99)
# Minimum number of predictions above a threshold for a reliable estimate.
FEWEST_ANSWERS = 20
# With few predictions, the precision above a threshold may be high only by chance. So the
# calibrated probabilities count, too: like this many more predictions, with the mean probability as
# precision. Between 50 and 400, all values were equally good on 43 draws of BANKING77, CLINC150 and
# SIB-200.
_STATED_ANSWERS = 100
_STEPS = 1e6
# A precision that equals the target may be computed as slightly lower.
_TOLERANCE = 1e-9


def target_thresholds(
    probabilities: Floats, is_right: Bools, counts: Bools | None = None, gain: float = 0.0
) -> list[dict[str, Any]]:
    """Return a record for each target precision, from out-of-fold predictions.

    A record has a probability threshold and its coverage. The threshold is the lowest at which the
    target precision is reached by these predictions, and is expected for other inputs. It is None
    if there is no such threshold. The coverage is the fraction of predictions at or above the
    threshold, with its 95 % interval.

    Args:
        probabilities: probability of each prediction, float, shape (predictions,); -1 for a
            rejected input.
        is_right: whether the prediction is correct, bool, shape (predictions,).
        counts: whether each prediction counts for the coverage, bool, shape (predictions,); None
            if all count.
        gain: log-odds of a prediction in the served model, minus its log-odds out of fold. The
            served model has more training examples. The gain affects only the coverage.
    """
    rounded = np.floor(np.asarray(probabilities, np.float64) * _STEPS) / _STEPS
    counts = np.ones(len(rounded), bool) if counts is None else counts
    return [_record(target, rounded, is_right, counts, gain) for target in TARGETS]


def _record(
    target: float, probabilities: Doubles, is_right: Bools, counts: Bools, gain: float
) -> dict[str, Any]:
    threshold = _lowest(target, probabilities, is_right)
    is_covered = np.zeros(len(counts), bool)
    if threshold is not None:
        # The probability that the gain raises to the threshold.
        needed = threshold / (threshold + float(np.exp(gain)) * (1.0 - threshold))
        is_covered = counts & (probabilities >= needed - _TOLERANCE)
    coverage = wilson_interval(int(is_covered.sum()), int(counts.sum()))
    return {
        "precision": target,
        "threshold": threshold,
        "coverage": round(coverage.value, 6),
        "coverageLow": round(coverage.low, 6),
        "coverageHigh": round(coverage.high, 6),
    }


def _lowest(target: float, probabilities: Doubles, is_right: Bools) -> float | None:
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    counts = np.arange(1, len(ranked) + 1)
    stated = np.cumsum(ranked) / counts
    right = np.cumsum(is_right[order])
    expected = (right + _STATED_ANSWERS * stated) / (counts + _STATED_ANSWERS)
    # Probabilities that are too high must not replace correct predictions.
    precision = np.minimum(expected, right / counts)
    # Equal probabilities cannot be separated, so only the last of a run can be a threshold.
    is_end = np.append(ranked[1:] != ranked[:-1], np.ones(min(len(ranked), 1), bool))
    reaches = (
        is_end & (precision >= target - _TOLERANCE) & (counts >= FEWEST_ANSWERS) & (ranked >= 0)
    )
    found = np.flatnonzero(reaches)
    return float(ranked[found[-1]]) if len(found) else None
