"""From the head's scores to probabilities that mean what they say.

The positive weights of the loss shift a label's score by their logarithm, and one temperature,
fitted out of fold, does the rest.
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
    """Shift and temperature."""

    shifts: Doubles
    """Subtracted from the logits, float64, shape (labels,)."""
    temperature: float = 1.0
    """What is left is divided by it."""

    def shares(self, logits: Floats) -> Doubles:
        """Probabilities of logits, float, shape (rows, labels), as float64, same shape."""
        shifted = (logits.astype(np.float64) - self.shifts) / self.temperature
        return sigmoid(shifted, GridArithmetic()).astype(np.float64)


def fit_calibration(positive_weights: Doubles, logits: Floats, truth: Bools) -> SigmoidCalibration:
    """Find the temperature with the lowest loss.

    Args:
        positive_weights: of the loss, float64, shape (labels,).
        logits: scores by heads that did not see the pictures, float, shape (n, labels).
        truth: whether a picture has a label, bool, same shape.

    Returns:
        The calibration; temperature 1 without pictures.
    """
    shifts = exact_log(positive_weights).astype(np.float64)
    if not len(logits):
        return SigmoidCalibration(shifts)
    tried = [SigmoidCalibration(shifts, temperature) for temperature in _TEMPERATURES]
    losses = [_loss(one, logits, truth) for one in tried]
    return tried[int(np.argmin(losses))]


def _loss(calibration: SigmoidCalibration, logits: Floats, truth: Bools) -> float:
    """Mean binary cross-entropy, float and bool, shape (n, labels) each."""
    total = 0.0
    for first in range(0, len(logits), _CHUNK_ROWS):
        shares = calibration.shares(logits[first : first + _CHUNK_ROWS])
        right = np.where(truth[first : first + _CHUNK_ROWS], shares, 1.0 - shares)
        logs = exact_log(np.maximum(right, _SMALLEST))
        total -= float(np.add.reduce(np.add.reduce(logs, axis=1)))
    return total / logits.size
