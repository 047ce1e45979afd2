"""Measures whether larger encoders are worth their cost, by cross-validation on some texts.

Presage compares the small encoder with larger ones step by step, in order of their cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import PlainArithmetic
from chalicelib.engines.calibration import energies, fit_temperature
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
# Relative decrease of the wrong answers below which no further encoders are used.
_FEWER_WRONG = 0.1


@dataclass(frozen=True, slots=True)
class Benefit:
    """Out-of-fold log-loss and accuracy on a sample, without and with additional encoders."""

    texts: int
    """Number of texts in the sample."""
    before: float
    """Out-of-fold log-loss with the current encoders."""
    after: float
    """Out-of-fold log-loss with the additional encoders."""
    wrong: tuple[float, float]
    """Fraction of wrong answers with the current encoders, then with the additional ones."""
    gain: float
    """Lower end of the 95 % interval of the accuracy gain, from paired predictions."""
    decrease: float
    """Lower end of the 95 % interval of the decrease of the log-loss, from paired predictions."""
    threshold: float
    """Relative decrease of the log-loss that is enough to use the additional encoders."""
    needs_proof: bool
    """Whether the additional encoders must also have a tenth fewer wrong answers, and a significant
    gain or decrease."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether the additional encoders reduce the loss or the wrong answers enough."""
        is_lower = self.after < self.before and self.after <= (1.0 - self.threshold) * self.before
        if not self.needs_proof:
            return self.gain > 0 or is_lower
        # A significant gain of a few texts in a thousand would not be noticed, and shrinks further
        # if the model is trained on all texts.
        saved = self.wrong[0] - self.wrong[1]
        has_fewer_wrong = saved > 0 and saved >= _FEWER_WRONG * self.wrong[0]
        return has_fewer_wrong and (self.gain > 0 or (is_lower and self.decrease > 0))

    @property
    def reason(self) -> str:
        """Return why the additional encoders are used or not, as text for the model card."""
        verdict = "taken" if self.is_worth_it else "not taken"
        before, after = (f"{100 * part:.1f}" for part in self.wrong)
        required = f" ({_FEWER_WRONG:.0%} fewer are required)" if self.needs_proof else ""
        return (
            f"{verdict}, because on a sample of {self.texts} texts the wrong answers change from "
            f"{before} to {after} %{required}, the accuracy by at least {100 * self.gain:+.1f} "
            f"points, and the out-of-fold log-loss from {self.before:.3f} to {self.after:.3f} "
            f"({self.threshold:.0%} is required), a decrease of at least {self.decrease:+.3f}"
        )


@dataclass(frozen=True, slots=True)
class _OutOfFold:
    """Out-of-fold results: whether each text is predicted correctly (1 or 0), and its log-loss."""

    examples: Ints
    right: Floats
    losses: Floats


def measure_benefit(
    sample: TextTrainingSet,
    before: Sequence[str],
    after: Sequence[str],
    threshold: float,
    *,
    needs_proof: bool,
) -> Benefit:
    """Compare the out-of-fold results of two sets of encoders.

    Args:
        sample: vectors of all encoders, and labels.
        before: names of the current encoders.
        after: names of the current and the additional encoders.
        threshold: relative decrease of the log-loss that justifies using `after`.
        needs_proof: whether stricter conditions apply (see `Benefit.needs_proof`).

    Raises:
        TrainingFailed: no model can be trained on the sample.
    """
    old, new = (_out_of_fold(_with_encoders(sample, names)) for names in (before, after))
    # Near-duplicates depend on the encoders, so the held-out texts may differ. Paired differences
    # use only texts that are held out both times.
    _, places, others = np.intersect1d(old.examples, new.examples, return_indices=True)
    right = old.right[places], new.right[others]
    return Benefit(
        len(sample.digests),
        before=round(_mean(old.losses), 4),
        after=round(_mean(new.losses), 4),
        wrong=(1.0 - _mean(right[0]), 1.0 - _mean(right[1])),
        gain=_lower_end(right[1] - right[0]),
        decrease=_lower_end(old.losses[places] - new.losses[others]),
        threshold=threshold,
        needs_proof=needs_proof,
    )


def _with_encoders(sample: TextTrainingSet, names: Sequence[str]) -> TextTrainingSet:
    phrases = sample.label_blocks or {}
    return replace(
        sample,
        blocks={name: sample.blocks[name] for name in names},
        label_blocks={name: phrases[name] for name in names} if phrases else None,
    )


def _out_of_fold(sample: TextTrainingSet) -> _OutOfFold:
    plan = make_plan(sample, check_training_set(sample), TextFitOptions())
    folds = [fold for fold in map(plan.layout.hold_out, plan.folds[:_FOLDS]) if len(fold.truth)]
    if not folds:
        return _OutOfFold(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    logits = []
    for fold in folds:
        training = [
            ExampleBatch(batch.features.astype(np.float32), batch.labels) for batch in fold.training
        ]
        # Exact arithmetic would cost several times as much, and only a tie could end differently.
        problem = HeadObjective(training, plan.labels, _PENALTY_INVERSE, PlainArithmetic())
        head = fit_head(problem, None, _TOLERANCE)
        logits += [head.logits(batch.features.astype(np.float32)) for batch in fold.held_out]
    found, whole = np.concatenate(logits), join_folds(folds)
    temperature = fit_temperature(found, whole.truth)
    own = found[np.arange(len(found)), whole.truth].astype(np.float64) / temperature
    right = np.asarray(found.argmax(axis=1) == whole.truth, float)
    return _OutOfFold(whole.examples, right, energies(found, temperature) - own)


def _mean(values: Floats) -> float:
    return float(values.sum()) / max(1, len(values))


def _lower_end(gains: Floats) -> float:
    """Return the lower end of the 95 % interval of the mean of `gains` (paired differences)."""
    error = float(gains.std()) / len(gains) ** 0.5 if len(gains) else 0.0
    return round(_mean(gains) - _STANDARD_ERRORS * error, 6)
