"""Converts the head's logits to calibrated probabilities.

In the loss of a label, examples with the label have a higher weight. This shifts the logit of the
label by the logarithm of the weight, so the shift is subtracted. Then one temperature is fitted to
out-of-fold logits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import GridArithmetic, exact_log
from chalicelib.engines.vision.linear_head.linear import sigmoid

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats

_TEMPERATURES = tuple(2.0 ** (step / 4.0) for step in range(-8, 13))
_CHUNK_ROWS = 4_096
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class SigmoidCalibration:
    """A calibration of logits: a shift for each label, and a temperature."""

    shifts: Doubles
    """Shift to subtract from each label's logits, float64, shape (labels,)."""
    temperature: float = 1.0
    """Divisor of the shifted logits."""

    def shares(self, logits: Floats) -> Doubles:
        """Convert logits, (rows, labels), to calibrated probabilities, float64, same shape."""
        shifted = (logits.astype(np.float64) - self.shifts) / self.temperature
        return sigmoid(shifted, GridArithmetic()).astype(np.float64)


def fit_calibration(positive_weights: Doubles, logits: Floats, truth: Bools) -> SigmoidCalibration:
    """Fit the temperature with the lowest loss; it is 1 if there are no images.

    Args:
        positive_weights: weight of positive examples in the loss, float64, shape (labels,).
        logits: logits from heads that were not trained on the images, float, shape (n, labels).
        truth: whether an image has a label, bool, same shape.
    """
    shifts = exact_log(positive_weights).astype(np.float64)
    if not len(logits):
        return SigmoidCalibration(shifts)
    tried = [SigmoidCalibration(shifts, temperature) for temperature in _TEMPERATURES]
    losses = [_loss(one, logits, truth) for one in tried]
    return tried[int(np.argmin(losses))]


def _loss(calibration: SigmoidCalibration, logits: Floats, truth: Bools) -> float:
    total = 0.0
    for first in range(0, len(logits), _CHUNK_ROWS):
        shares = calibration.shares(logits[first : first + _CHUNK_ROWS])
        right = np.where(truth[first : first + _CHUNK_ROWS], shares, 1.0 - shares)
        logs = exact_log(np.maximum(right, _SMALLEST))
        total -= float(np.add.reduce(np.add.reduce(logs, axis=1)))
    return total / logits.size
