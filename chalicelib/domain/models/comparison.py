"""Compares two versions of a model by their predictions for the same held-out examples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.models.evaluation import EvaluatedExample, Evaluation

# With fewer common examples, the confidence interval is too wide to decide anything.
LEAST_COMMON = 20
# A new version counts as not worse if the lower end of the interval is at least this value.
TOLERANCE = -0.02
_NORMAL_95 = 1.96


@dataclass(frozen=True)
class Comparison:
    """Accuracies of two versions on the same examples."""

    examples: int
    first_accuracy: float
    """Accuracy of the first version, 0 to 1."""
    second_accuracy: float
    low: float
    """Lower end of the paired 95 % confidence interval of the difference between the accuracies,
    second minus first.
    """
    high: float

    @property
    def is_worse(self) -> bool:
        """Return whether the lower end of the confidence interval is below TOLERANCE."""
        return self.low < TOLERANCE

    def swapped(self) -> Comparison:
        """Return the comparison with first and second version exchanged."""
        return Comparison(
            self.examples, self.second_accuracy, self.first_accuracy, -self.high, -self.low
        )


def compare(
    older: Evaluation | None, newer: Evaluation | None, *, by_own_labels: bool = False
) -> Comparison | None:
    """Compare two versions by their predictions for the examples that both evaluations contain.

    Each prediction comes from a classifier that was not trained on the predicted example. Examples
    are left out if the older version does not know their current label. With `by_own_labels`,
    predictions of the older version are compared with the labels at the time of its training.
    Later corrections of these labels are ignored.

    Returns:
        The comparison, older version first; None without two evaluations, or with fewer than
        `LEAST_COMMON` common examples.
    """
    if older is None or newer is None:
        return None
    pairs = _pairs(older.examples, newer.examples, by_own_labels)
    count = len(pairs)
    if count < LEAST_COMMON:
        return None
    before = sum(old for old, _ in pairs) / count
    after = sum(new for _, new in pairs) / count
    differences = [int(new) - int(old) for old, new in pairs]
    mean = sum(differences) / count
    variance = sum((one - mean) ** 2 for one in differences) / (count - 1)
    half = _NORMAL_95 * math.sqrt(variance / count)
    return Comparison(
        count, round(before, 6), round(after, 6), round(mean - half, 6), round(mean + half, 6)
    )


def why_not_compared(older: Evaluation | None, newer: Evaluation | None) -> str:
    """Return why `compare` returned None for two versions, as a clause."""
    if older is None or newer is None:
        return "held-out predictions of both are needed, and detection models store none"
    return f"they have fewer than {LEAST_COMMON} held-out examples in common"


def _pairs(
    older: Sequence[EvaluatedExample], newer: Sequence[EvaluatedExample], by_own_labels: bool
) -> list[tuple[bool, bool]]:
    """Return, for each common example, whether the older and whether the newer version is right."""
    labels = {one.expected for one in older}
    before, after = _by_example(older), _by_example(newer)
    return [
        (before[key].predicted == (before[key] if by_own_labels else one).expected, one.is_right)
        for key, one in after.items()
        if key in before and one.expected in labels
    ]


def _by_example(
    examples: Sequence[EvaluatedExample],
) -> dict[tuple[int, str | None], EvaluatedExample]:
    """Return the examples by id and label.

    The label is used only if an id occurs twice, as in multi-label evaluations. Otherwise, the
    label is None in all keys. Examples with the same id and label are left out.
    """
    repeats = len({one.example_id for one in examples}) < len(examples)
    keys = [(one.example_id, one.expected if repeats else None) for one in examples]
    counts = Counter(keys)
    return {key: one for key, one in zip(keys, examples, strict=True) if counts[key] == 1}
