"""Compares two ways of answering on the same pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    bootstrap_gain,
    mean_average_precision,
    precision_recall,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.interface import Interval
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedPicture


# Mean AP that a likely gain adds at least.
LIKELY_GAIN = 0.01


@dataclass(frozen=True)
class Compared:
    """A way of answering against the way without it."""

    before: float | None
    """Mean AP without it; None when that cannot be said."""
    after: float | None
    """Mean AP with it."""
    gain: Interval | None
    """What it adds to the mean AP."""

    @property
    def is_certain(self) -> bool:
        """Whether it gains beyond doubt: worth an answer that takes five times as long."""
        return self.gain is not None and self.gain.low > 0.0

    @property
    def is_likely(self) -> bool:
        """Whether it gains a point, doubtful as that is: worth an answer that takes twice as long.

        Few images cannot prove a gain; see docs/decisions/vision-models.md#mirror-images.
        """
        return self.gain is not None and self.gain.value >= LIKELY_GAIN


def compare(
    before: Sequence[EvaluatedPicture], after: Sequence[EvaluatedPicture], labels: int, seed: int
) -> Compared:
    """Compare what both ways answered.

    Args:
        before: answers without the way.
        after: answers with it for the same pictures, in the same order.
        labels: how many labels there are.
        seed: of the draws.
    """
    without, with_it = (
        mean_average_precision(precision_recall(part, labels)) for part in (before, after)
    )
    return Compared(without, with_it, bootstrap_gain(before, after, labels, seed))
