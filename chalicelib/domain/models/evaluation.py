"""Out-of-fold predictions of a model for the examples of its dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

# Bins of equal width over the probabilities, for the reliability diagram.
BINS = 10


@dataclass(frozen=True, slots=True)
class EvaluatedExample:
    """An example, and its prediction by a classifier that was not trained on it.

    A multi-label image has one entry for each label that it has or that was predicted for it.
    """

    example_id: int
    """Id of the example. A multi-label image has an example for each of its labels. If the entry is
    for a label that the image does not have, this is the id of the image's first example.
    """
    expected: str | None
    """Label of the example; None if a multi-label image does not have the predicted label."""
    predicted: str | None
    """Predicted label; None if a text was rejected as out of scope. Also None if `expected` is a
    label of a multi-label image that was not predicted.
    """
    probability: float
    """Highest probability of any label; for multi-label images, of the entry's label."""

    @property
    def is_right(self) -> bool:
        """Return whether the prediction equals the example's label."""
        return self.expected == self.predicted


@dataclass(frozen=True, slots=True)
class EvaluatedFilter:
    """Selects examples of an evaluation."""

    expected: str | None = None
    """Select only examples with this label."""
    predicted: str | None = None
    """Select only examples for which this label was predicted."""
    is_right: bool | None = None
    """True to select only right predictions, False only wrong ones; None for both."""

    def matches(self, example: EvaluatedExample) -> bool:
        """Return whether the filter selects an example."""
        return (
            self.expected in (None, example.expected)
            and self.predicted in (None, example.predicted)
            and self.is_right in (None, example.is_right)
        )


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predictions with similar probabilities: their number, and the fraction that is correct."""

    low: float
    """Lowest probability of the bin, 0 to 1."""
    high: float
    count: int
    probability: float
    """Mean probability of the bin's predictions; 0 for an empty bin."""
    accuracy: float
    """Fraction of the bin's predictions that are right; 0 for an empty bin."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All evaluated examples of a model version, and the calibration of their predictions."""

    examples: Sequence[EvaluatedExample] = ()
    reliability: Sequence[ReliabilityBin] = ()
    """Calibration of the predictions: BINS bins, in ascending order of probability."""


def reliability(answers: Iterable[tuple[float, bool]]) -> list[ReliabilityBin]:
    """Sort predictions into bins by probability.

    Each answer is the probability of a prediction, and whether the prediction is right.
    """
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for answer in answers:
        bins[min(BINS - 1, int(answer[0] * BINS))].append(answer)
    return [
        ReliabilityBin(
            low=place / BINS,
            high=(place + 1) / BINS,
            count=len(found),
            probability=_mean(probability for probability, _ in found),
            accuracy=_mean(is_right for _, is_right in found),
        )
        for place, found in enumerate(bins)
    ]


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return round(sum(known) / len(known), 6) if known else 0.0


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """Return the JSON form of an evaluation."""
    return {
        "examples": [astuple(one) for one in evaluation.examples],
        "reliability": [astuple(one) for one in evaluation.reliability],
        "object": "evaluation",
    }


def read_evaluation(document: Any) -> Evaluation:
    """Parse the document that `evaluation_document` returned."""
    return Evaluation(
        tuple(EvaluatedExample(*one) for one in document["examples"]),
        tuple(ReliabilityBin(*one) for one in document["reliability"]),
    )


def without_evaluated(document: Any, ids: Collection[int] | None = None) -> dict[str, Any]:
    """Remove the examples with these ids from an evaluation in JSON form; None removes all."""
    kept = [] if ids is None else [one for one in document["examples"] if one[0] not in ids]
    # The reliability stays, because it does not identify single examples.
    return {**document, "examples": kept}
