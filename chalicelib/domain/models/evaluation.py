"""What a model answers to its own examples when it has not seen them, as kept with its version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

# Bins of the reliability, equally wide over the probabilities.
BINS = 10


@dataclass(frozen=True, slots=True)
class EvaluatedExample:
    """An example, and what a head that had not seen it answered."""

    example_id: int
    """The example; of a label that a picture has not, the first one of the picture."""
    expected: str | None
    """Its label as the training saw it; None: several labels a picture, and it has not this one."""
    predicted: str | None
    """The answer; None where it was that no label fits, or not this one."""
    probability: float
    """Of the most probable label; with several labels a picture, of the label in question."""

    @property
    def is_right(self) -> bool:
        """Whether it was answered with its label."""
        return self.expected == self.predicted


@dataclass(frozen=True, slots=True)
class EvaluatedFilter:
    """Which examples of an evaluation are wanted."""

    expected: str | None = None
    """Only those of the label with this name."""
    predicted: str | None = None
    """Only those that were answered with the label of this name."""
    is_right: bool | None = None
    """Only those that were answered rightly, or wrongly."""

    def matches(self, one: EvaluatedExample) -> bool:
        """Return whether an example is wanted."""
        return (
            self.expected in (None, one.expected)
            and self.predicted in (None, one.predicted)
            and self.is_right in (None, one.is_right)
        )


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers of about the same probability."""

    low: float
    """Lowest probability, 0 to 1."""
    high: float
    """Highest probability."""
    count: int
    """Answers in it."""
    probability: float
    """Their mean probability; 0 without any."""
    accuracy: float
    """Share of them that was right; 0 without any."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All of it."""

    examples: Sequence[EvaluatedExample] = ()
    """In the order of the dataset."""
    reliability: Sequence[ReliabilityBin] = ()
    """BINS of them, by probability."""


def reliability(answers: Iterable[tuple[float, bool]]) -> list[ReliabilityBin]:
    """Sort answers into bins.

    Args:
        answers: probabilities, and whether the answer was right.
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
    """Read what `evaluation_document` wrote."""
    return Evaluation(
        tuple(EvaluatedExample(*one) for one in document["examples"]),
        tuple(ReliabilityBin(*one) for one in document["reliability"]),
    )


def without_evaluated(document: Any, ids: Collection[int] | None = None) -> dict[str, Any]:
    """Take examples out of the JSON form of an evaluation; all of them without ids.

    The reliability stays: it says nothing of single examples.
    """
    kept = [] if ids is None else [one for one in document["examples"] if one[0] not in ids]
    return {**document, "examples": kept}
