"""Compares two detection methods on the same images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedImage,
    bootstrap_gain,
    mean_average_precision,
    precision_recall,
)

# Least gain in mean AP that counts as likely without being significant.
LIKELY_GAIN = 0.01
# Least gain that is worth a hundred times the training time.
_LARGE_GAIN = 0.02


@dataclass(frozen=True)
class Compared:
    """Mean average precision (AP) without and with a certain detection method."""

    before: float | None
    """Mean AP without the method; None if unknown."""
    after: float | None
    """Mean AP with the method."""
    gain: Interval | None
    """Mean AP with the method minus mean AP without it, with its 95 % interval."""

    @property
    def is_certain(self) -> bool:
        """Return whether the gain is significant, which justifies five times the time."""
        return self.gain is not None and self.gain.low > 0.0

    @property
    def is_likely(self) -> bool:
        """Return whether the gain is significant or at least 0.01, to justify twice the time."""
        # Few images cannot prove a gain; see docs/decisions/vision-models.md#mirror-images.
        is_enough = self.gain is not None and self.gain.value >= LIKELY_GAIN
        return is_enough or self.is_certain

    @property
    def is_large(self) -> bool:
        """Return whether the gain is at least 0.02, which justifies a dense head."""
        return self.gain is not None and self.gain.value >= _LARGE_GAIN


def compare(
    before: Sequence[EvaluatedImage], after: Sequence[EvaluatedImage], labels: int, seed: int
) -> Compared:
    """Compare detections without and with a certain method.

    Args:
        before: detections without the method.
        after: detections with the method in the same images, in the same order.
        labels: number of labels.
        seed: seed of the resampling.
    """
    without, with_it = (
        mean_average_precision(precision_recall(part, labels)) for part in (before, after)
    )
    return Compared(without, with_it, bootstrap_gain(before, after, labels, seed))
