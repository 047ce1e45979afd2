"""Compares the calibration on feedback texts before and after fitting the temperature to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.calibration import fit_temperature, probabilities
from chalicelib.engines.metrics import calibration_error

if TYPE_CHECKING:
    from chalicelib.engines.interface import OutOfFold

# With fewer feedback texts a calibration error is too uncertain.
FEWEST = 15
_LEAST_SHARE = 1e-9


def feedback_calibration(
    out_of_fold: OutOfFold, feedback_places: Sequence[int]
) -> dict[str, Any] | None:
    """Return the calibration errors on feedback texts, for two temperatures of the logits.

    One temperature is fitted without the feedback texts, the other to all examples.

    Args:
        out_of_fold: predictions by heads that were not trained on the examples.
        feedback_places: indexes of the feedback examples in the training set.

    Returns:
        The number of feedback texts and both errors; None if there are too few feedback texts.
    """
    is_feedback = np.isin(out_of_fold.examples, np.array(feedback_places, np.int64))
    count = int(is_feedback.sum())
    if count < FEWEST or is_feedback.all():
        return None
    shares, truth = out_of_fold.probabilities, out_of_fold.truth
    # Logits up to a constant for each text, which does not change the softmax.
    logits = np.log(np.maximum(shares, _LEAST_SHARE))
    temperature = fit_temperature(logits[~is_feedback], truth[~is_feedback])
    before = probabilities(logits[is_feedback], temperature)
    return {
        "examples": count,
        "errorBefore": round(calibration_error(before, truth[is_feedback]), 6),
        "errorAfter": round(calibration_error(shares[is_feedback], truth[is_feedback]), 6),
    }
