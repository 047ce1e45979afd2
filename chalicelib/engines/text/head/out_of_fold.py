"""The out-of-fold logits of a training, and the temperatures that are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.calibration import fit_temperature

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints, Singles
    from chalicelib.engines.text.head.layout import HeldOutFolds
    from chalicelib.engines.text.head.neighbours import WeightedScores
    from chalicelib.engines.text.head.penalty import PenaltyChoice

_DEFAULT_PENALTY_INVERSE = 10.0


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The chosen settings, and the out-of-fold logits from which they were chosen."""

    penalty_inverse: float
    """The chosen inverse penalty C."""
    temperature: float
    """Temperature of the finished model, fitted to all examples."""
    metric_temperature: float
    """Temperature for the metrics, fitted to the training part of the split only."""
    examples: Ints
    """Indexes of the examples that have out-of-fold logits, int, shape (n,)."""
    logits: Singles
    """Out-of-fold logits of the held-out examples, float32, shape (n, labels)."""
    truth: Ints
    """Label index of each held-out example, int, shape (n,)."""
    is_trained: Bools
    """Which held-out examples are in the training part of the split, bool, shape (n,)."""
    background_logits: Singles
    """Out-of-fold logits of the background texts, fold by fold, float32, shape (m, labels)."""
    head_logits: Singles
    """Logits of the held-out examples by the linear head alone, float32, shape (n, labels).

    The weighted cosine to the nearest texts, which `logits` include, is not added.
    """
    background_head_logits: Singles
    """Logits of the background texts by the linear head alone, float32, shape (m, labels)."""
    nearness_weight: float = 0.0
    """Logit increase for a cosine of 1 to a label's nearest training text; 0 if unused."""


def calibrate(
    folds: HeldOutFolds, choice: PenaltyChoice, nearest: WeightedScores | None
) -> CrossValidation:
    """Fit temperatures to out-of-fold logits; return them with the logits and other settings.

    Args:
        folds: the held-out examples.
        choice: the chosen penalty, and the out-of-fold logits of the heads.
        nearest: logits to which the cosines to the nearest texts were added; None if these cosines
            are not used.
    """
    scores = choice.scores if nearest is None else nearest.scores
    logits = np.concatenate([part.held_out for part in scores])
    chosen, chosen_truth = logits[folds.may_choose], folds.truth[folds.may_choose]
    return CrossValidation(
        penalty_inverse=choice.penalty_inverse,
        temperature=fit_temperature(logits, folds.truth, _error_rate(len(folds.truth))),
        metric_temperature=fit_temperature(chosen, chosen_truth, _error_rate(len(chosen_truth))),
        examples=folds.examples,
        logits=logits,
        truth=folds.truth,
        is_trained=folds.is_trained,
        background_logits=np.concatenate([part.background for part in scores]),
        head_logits=np.concatenate([part.held_out for part in choice.scores]),
        background_head_logits=np.concatenate([part.background for part in choice.scores]),
        nearness_weight=0.0 if nearest is None else nearest.weight,
    )


def default_settings(labels: int) -> CrossValidation:
    """Return settings for trainings without held-out examples: penalty 1/10, temperature 1."""
    nothing = np.empty(0, np.int64)
    logits = np.empty((0, labels), np.float32)
    return CrossValidation(
        penalty_inverse=_DEFAULT_PENALTY_INVERSE,
        temperature=1.0,
        metric_temperature=1.0,
        examples=nothing,
        logits=logits,
        truth=nothing,
        is_trained=np.empty(0, bool),
        background_logits=logits,
        head_logits=logits,
        background_head_logits=logits,
    )


def _error_rate(examples: int) -> float:
    # Laplace's rule of succession: otherwise, a few examples that are all predicted correctly
    # would make every prediction certain.
    return 1.0 / (examples + 2)
