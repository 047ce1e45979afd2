"""Measures with a sample of the texts, out of fold, whether a large encoder is worth its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.engines.calibration import tempered_loss
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.encoding.profiles import cost_relative_to_mpnet
from chalicelib.engines.text.head.cross_validation import cross_validate
from chalicelib.engines.text.plan import make_plan
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    from chalicelib.engines.interface import TextTrainingSet

# Approximate number of texts in the sample.
SAMPLE_TEXTS = 1_500
# Minimum number of texts of each label, where it has them.
SAMPLE_OF_LABEL = 5
# With fewer texts the comparison is too uncertain, and a large encoder helps most there.
FEWEST_TEXTS = 200
# Relative fall of the loss that justifies mpnet, whose answers cost four times as much; for a
# cheaper encoder proportionally less.
WORTH = 0.15


@dataclass(frozen=True, slots=True)
class Benefit:
    """Out-of-fold losses of a sample with the small and with all encoders."""

    texts: int
    """Number of texts in the sample."""
    fast: float
    """Log-loss of held-out texts with the small encoder."""
    accurate: float
    """The same with the large encoder added."""
    worth: float = WORTH
    """Relative fall of the loss that justifies the large encoder."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether the large encoder reduces the loss enough."""
        return self.accurate <= (1.0 - self.worth) * self.fast

    @property
    def reason(self) -> str:
        """Return the explanation for the card."""
        return (
            f"Without a wish: on a sample of {self.texts} texts the large encoder changes the "
            f"out-of-fold log-loss from {self.fast:.3f} to {self.accurate:.3f}; it is taken where "
            f"the loss falls by {self.worth:.0%} or more."
        )


def measure_benefit(sample: TextTrainingSet, fast: Sequence[str], threads: int) -> Benefit:
    """Compare the out-of-fold loss of the fast encoders with that of all encoders.

    Args:
        sample: vectors of all encoders, and labels.
        fast: names of the encoders of the fast profile.
        threads: threads that share the fits; the result does not depend on them.

    Raises:
        TrainingFailed: these texts cannot be trained on.
    """
    phrases = sample.label_blocks or {}
    small = replace(
        sample,
        blocks={name: sample.blocks[name] for name in fast},
        label_blocks={name: phrases[name] for name in fast} if phrases else None,
    )
    small_loss, whole_loss = (_out_of_fold_loss(one, threads) for one in (small, sample))
    large = sample.blocks.keys() - set(fast)
    return Benefit(
        len(sample.digests), small_loss, whole_loss, WORTH * cost_relative_to_mpnet(large)
    )


def _out_of_fold_loss(sample: TextTrainingSet, threads: int) -> float:
    labels = check_training_set(sample)
    plan = make_plan(sample, labels, TextFitOptions(threads=threads))
    chosen = cross_validate(
        plan.layout, plan.labels, plan.folds, plan.arithmetic, lambda share: None
    )
    return tempered_loss(chosen.logits, chosen.truth, chosen.temperature)
