"""Measures whether further encoders are worth their cost, by cross-validation on a sample.

Presage compares the small encoder with larger ones step by step, in order of their cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import PlainArithmetic
from chalicelib.engines.calibration import fit_temperature, tempered_loss
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.head.layout import join_folds
from chalicelib.engines.text.head.regression import ExampleBatch, HeadObjective, fit_head
from chalicelib.engines.text.plan import make_plan
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints
    from chalicelib.engines.interface import TextTrainingSet

# One penalty for all encoders: only their difference matters here.
_PENALTY_INVERSE = 10.0
_TOLERANCE = 5e-3
# Number of folds to hold out; more folds give little further information for their cost.
_FOLDS = 3
# Width of a two-sided interval of 95 %, in standard errors.
_STANDARD_ERRORS = 1.96


@dataclass(frozen=True, slots=True)
class Benefit:
    """Out-of-fold results of a sample, with the current and with additional encoders."""

    texts: int
    """Number of texts in the sample."""
    before: float
    """Out-of-fold log-loss with the current encoders."""
    after: float
    """Out-of-fold log-loss with the additional encoders."""
    gain: float
    """Lower end of the 95 % interval of the accuracy gain, from paired predictions."""
    worth: float
    """Relative decrease of the log-loss that is enough to use the additional encoders."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether the additional encoders are better by enough to be used."""
        is_lower = self.after < self.before
        return self.gain > 0 or (is_lower and self.after <= (1.0 - self.worth) * self.before)

    @property
    def reason(self) -> str:
        """Return the explanation for the model card."""
        verdict = "taken" if self.is_worth_it else "not taken"
        return (
            f"{verdict}, because on a sample of {self.texts} texts the out-of-fold log-loss changes"
            f" from {self.before:.3f} to {self.after:.3f} ({self.worth:.0%} is required) and the "
            f"accuracy by at least {100 * self.gain:+.1f} points"
        )


def measure_benefit(
    sample: TextTrainingSet, before: Sequence[str], after: Sequence[str], worth: float
) -> Benefit:
    """Compare the out-of-fold results of two sets of encoders.

    Args:
        sample: vectors of all encoders, and labels.
        before: names of the current encoders.
        after: names of the other encoders.
        worth: relative decrease of the log-loss that justifies the other encoders.

    Raises:
        TrainingFailed: these texts cannot be trained on.
    """
    old, right_before, loss_before = _out_of_fold(_with_encoders(sample, before))
    new, right_after, loss_after = _out_of_fold(_with_encoders(sample, after))
    # With different encoders, different texts are near-duplicates, so other texts are held out.
    _, places, others = np.intersect1d(old, new, return_indices=True)
    gains = right_after[others] - right_before[places]
    error = float(gains.std()) / max(1, len(gains)) ** 0.5
    lower = round(float(gains.mean()) - _STANDARD_ERRORS * error, 6) if len(gains) else 0.0
    losses = round(loss_before, 4), round(loss_after, 4)
    return Benefit(len(sample.digests), *losses, lower, worth)


def _with_encoders(sample: TextTrainingSet, names: Sequence[str]) -> TextTrainingSet:
    phrases = sample.label_blocks or {}
    return replace(
        sample,
        blocks={name: sample.blocks[name] for name in names},
        label_blocks={name: phrases[name] for name in names} if phrases else None,
    )


def _out_of_fold(sample: TextTrainingSet) -> tuple[Ints, Floats, float]:
    """Return the held-out examples, whether each is predicted correctly, and the log-loss."""
    plan = make_plan(sample, check_training_set(sample), TextFitOptions())
    folds = [fold for fold in map(plan.layout.hold_out, plan.folds[:_FOLDS]) if len(fold.truth)]
    if not folds:
        return np.zeros(0, np.int64), np.zeros(0), 0.0
    logits = []
    for fold in folds:
        training = [
            ExampleBatch(batch.features.astype(np.float32), batch.labels) for batch in fold.training
        ]
        # Exact arithmetic would cost several times as much, and only a tie could end differently.
        problem = HeadObjective(training, plan.labels, _PENALTY_INVERSE, PlainArithmetic())
        head = fit_head(problem, None, _TOLERANCE)
        logits += [head.logits(batch.features.astype(np.float32)) for batch in fold.held]
    found, whole = np.concatenate(logits), join_folds(folds)
    right = np.asarray(found.argmax(axis=1) == whole.truth, float)
    loss = tempered_loss(found, whole.truth, fit_temperature(found, whole.truth))
    return whole.examples, right, loss
