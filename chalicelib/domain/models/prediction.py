"""Predictions: labels with probabilities, ordered, and the top N. Spec: Prediction response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from chalicelib.domain.documents.picture import PixelBox

if TYPE_CHECKING:
    from chalicelib.domain.accounts.usage import Usage
    from chalicelib.domain.models.explanation import Explanation
    from chalicelib.domain.models.judgement import Judgement

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Probability:
    """One label with its probability."""

    label: str
    """Label name."""
    probability: float
    """0 to 1."""


# Labels, most probable first.
Ranked = tuple[Probability, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """One object that was found."""

    label: str
    """Label name."""
    probability: float
    """0 to 1."""
    box: PixelBox
    """Where it is."""


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """What a call may choose."""

    count: int | None = None
    """Most labels that are returned; None: as many as the kind of model returns."""
    explains: bool = False
    """Whether the answer explains its first label."""
    judges: bool = False
    """Whether the answer is a judgement for a ranking, without labels."""


# What a call gets that chooses nothing.
DEFAULTS = PredictionOptions()


@dataclass(frozen=True)
class Prediction(Generic[Item]):
    """What a model answered for one sample."""

    items: Sequence[Item]
    """Labels or objects, most probable first."""
    usage: Usage | None = None
    """Predictions of the month, with this one; None if the caller counts them."""
    explanation: Explanation | None = None
    """What the first label is based on, if the options ask for it."""
    judgement: Judgement | None = None
    """How useful a label of the sample would be, if the options ask for it."""


def ranked(labels: Iterable[str], shares: Iterable[float], count: int | None = None) -> Ranked:
    """Pair labels with their probabilities, most probable first; keep the top `count`."""
    pairs = zip(labels, shares, strict=True)
    return ordered((Probability(label, float(share)) for label, share in pairs), count)


def ordered(items: Iterable[Probability], count: int | None = None) -> Ranked:
    """Sort by probability, descending, equal ones by label; keep the top `count`."""
    found = sorted(items, key=lambda item: (-item.probability, item.label))
    return tuple(found if count is None else found[:count])
