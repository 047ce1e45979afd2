"""Converts scores of detections to probabilities, without changing their order.

The score of a detection estimates its overlap with an object, not the probability that it is
correct. So a logistic curve is fitted to held-out detections. It predicts from the logit of a score
whether the detection is correct. Source: Platt 1999, Probabilistic Outputs for SVMs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.metrics import CALIBRATION_BINS
from chalicelib.engines.vision.detection.head.loss import sigmoid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Bools, Doubles
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedImage

# Minimum number of correct and of wrong detections for a fit.
FEWEST = 10
_ROUNDS = 50
_RIDGE = 0.3
_LEAST_SLOPE = 0.1
_TINY = 1e-6
_PLATEAU = 0.01


@dataclass(frozen=True)
class Calibration:
    """An increasing function from scores to probabilities."""

    slope: float = 1.0
    """Factor of the score's logit, above 0."""
    offset: float = 0.0
    """Number to add to the multiplied logit."""

    def apply(self, scores: Doubles) -> Doubles:
        """Convert scores, float64, any shape, to an array of probabilities of the same shape."""
        if self == Calibration():
            return scores
        probabilities: Doubles = sigmoid(self.slope * _logit(scores) + self.offset).astype(float)
        return probabilities


def fit_calibration(evaluated: Sequence[EvaluatedImage]) -> Calibration:
    """Fit a calibration to held-out images. With too few detections, it does not change scores."""
    scores, is_right = _flat(evaluated)
    if min(int(is_right.sum()), int((~is_right).sum())) < FEWEST:
        return Calibration()
    logits = _logit(scores)
    values = np.array([1.0, 0.0])
    design = np.stack([logits, np.ones_like(logits)], axis=1)
    for _ in range(_ROUNDS):
        chance = sigmoid(design @ values)
        gradient = design.T @ (chance - is_right) + _RIDGE * (values - (1.0, 0.0))
        weights = chance * (1.0 - chance)
        curvature = (design * weights[:, None]).T @ design + _RIDGE * np.eye(2)
        values = values - np.linalg.solve(curvature, gradient)
    if not np.isfinite(values).all() or values[0] < _LEAST_SLOPE:
        return Calibration()
    return Calibration(round(float(values[0]), 4), round(float(values[1]), 4))


def calibration_error(evaluated: Sequence[EvaluatedImage]) -> float | None:
    """Return the mean difference between probability and precision; None without detections."""
    # Each half is evaluated with a curve that was fitted to the other half.
    halves = [evaluated[0::2], evaluated[1::2]]
    parts = []
    for own, other in (halves, halves[::-1]):
        scores, is_right = _flat(own)
        # If the whole is not calibrated, the halves are not calibrated either.
        curve = fit_calibration(other) if fit_calibration(evaluated) != Calibration() else None
        parts.append((scores if curve is None else curve.apply(scores), is_right))
    scores, is_right = (np.concatenate(part) for part in zip(*parts, strict=True))
    if not len(scores):
        return None
    order = np.argsort(scores, kind="stable")
    gaps = [
        abs(float(scores[rows].sum()) - float(is_right[rows].sum()))
        for rows in np.array_split(order, CALIBRATION_BINS)
    ]
    return sum(gaps) / len(scores)


def suggest_threshold(evaluated: Sequence[EvaluatedImage]) -> float | None:
    """Return a probability threshold with nearly the best F1; None if no detection is correct.

    Args:
        evaluated: images that the model was not trained on. Their scores are probabilities.
    """
    scores, is_right = _flat(evaluated)
    if not is_right.any():
        return None
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    truths = sum(int(part.truths.sum()) for part in evaluated)
    f1 = 2.0 * np.cumsum(is_right[order]) / (np.arange(1, len(order) + 1) + truths)
    # Equal probabilities cannot be separated, so only the last of a run counts.
    f1[:-1][ranked[1:] == ranked[:-1]] = 0.0
    # The middle of the thresholds with nearly the best F1 is more reliable than the best one.
    good = ranked[f1 >= f1.max() - _PLATEAU]
    return round(float(good[len(good) // 2]), 4)


def _flat(evaluated: Sequence[EvaluatedImage]) -> tuple[Doubles, Bools]:
    scores = np.concatenate([np.empty(0), *(part.scores for part in evaluated)])
    return scores, np.concatenate([np.empty(0, bool), *(part.is_right for part in evaluated)])


def _logit(scores: Doubles) -> Doubles:
    safe = np.clip(scores, _TINY, 1.0 - _TINY)
    logits: Doubles = np.log(safe / (1.0 - safe))
    return logits
