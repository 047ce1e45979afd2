"""Whether a large encoder is worth its cost: measured on a sample of the texts, out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.engines.calibration import tempered_loss
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.encoding.profiles import cost_beside_mpnet
from chalicelib.engines.text.head.cross_validation import cross_validate
from chalicelib.engines.text.plan import make_plan
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    from chalicelib.engines.interface import TextTrainingSet

SAMPLE_TEXTS = 1_500
"""About so many texts are compared on."""
SAMPLE_OF_LABEL = 5
"""At least so many of each label, where it has them."""
FEWEST_TEXTS = 200
"""Of fewer texts nothing can be told, and few examples are where a large encoder helps most."""
WORTH = 0.15
"""By so much of itself the loss must fall for mpnet, with which an answer costs four times as much;
for a cheaper encoder as much less as it costs less."""


@dataclass(frozen=True, slots=True)
class Benefit:
    """What a sample tells."""

    texts: int
    """How many texts were compared on."""
    fast: float
    """Log-loss of held-out texts with the small encoder."""
    accurate: float
    """The same with the large one, too."""
    worth: float = WORTH
    """By so much of itself the loss must fall."""

    @property
    def is_worth_it(self) -> bool:
        """Whether the large encoder takes away enough of the loss."""
        return self.accurate <= (1.0 - self.worth) * self.fast

    @property
    def reason(self) -> str:
        """Say it in words, for the card."""
        return (
            f"Without a wish: on a sample of {self.texts} texts the large encoder changes the "
            f"out-of-fold log-loss from {self.fast:.3f} to {self.accurate:.3f}; it is taken where "
            f"the loss falls by {self.worth:.0%} or more."
        )


def measure_benefit(sample: TextTrainingSet, fast: Sequence[str], threads: int) -> Benefit:
    """Compare what two sets of encoders know of texts that their heads did not see.

    Args:
        sample: vectors of all encoders, and labels.
        fast: names of the encoders that are taken in any case.
        threads: threads that share the fits; what comes out does not depend on them.

    Raises:
        TrainingFailed: nothing can be learnt from these texts.
    """
    phrases = sample.label_blocks or {}
    small = replace(
        sample,
        blocks={name: sample.blocks[name] for name in fast},
        label_blocks={name: phrases[name] for name in fast} if phrases else None,
    )
    small_loss, whole_loss = (_out_of_fold_loss(one, threads) for one in (small, sample))
    large = sample.blocks.keys() - set(fast)
    return Benefit(len(sample.digests), small_loss, whole_loss, WORTH * cost_beside_mpnet(large))


def _out_of_fold_loss(sample: TextTrainingSet, threads: int) -> float:
    labels = check_training_set(sample)
    plan = make_plan(sample, labels, TextFitOptions(threads=threads))
    chosen = cross_validate(
        plan.layout, plan.labels, plan.folds, plan.arithmetic, lambda share: None
    )
    return tempered_loss(chosen.logits, chosen.truth, chosen.temperature)
