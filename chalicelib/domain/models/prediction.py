"""Predictions: labels or objects with probabilities, and the top N. Spec: Prediction response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
    probability: float
    """0 to 1."""


# Labels, most probable first.
Ranked = tuple[Probability, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """A detected object: label, probability and box."""

    label: str
    probability: float
    """0 to 1."""
    box: PixelBox


def as_json(item: Probability | Detection) -> dict[str, Any]:
    """Return an item as the JSON values that exported models store."""
    one: dict[str, Any] = {"label": item.label, "probability": item.probability}
    if isinstance(item, Detection):
        box = item.box
        one["box"] = [box.min_x, box.min_y, box.max_x, box.max_y]
    return one


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """Options of a prediction call."""

    count: int | None = None
    """Most labels to return; None for the default of the model's type."""
    explains: bool = False
    """Whether the answer explains its first label."""
    judges: bool = False
    """Whether the answer is a judgement for a ranking, without labels."""


# For a call without options.
DEFAULTS = PredictionOptions()


@dataclass(frozen=True)
class Prediction(Generic[Item]):
    """A model's answer for one sample."""

    items: Sequence[Item]
    usage: Usage | None = None
    """Predictions of the month including this one; None if the calling service counts them."""
    explanation: Explanation | None = None
    """What the first label is based on, if requested."""
    judgement: Judgement | None = None
    """How useful a label of the sample would be, if requested."""


def ranked(labels: Iterable[str], shares: Iterable[float], count: int | None = None) -> Ranked:
    """Pair labels with their probabilities, most probable first; return the top `count`."""
    pairs = zip(labels, shares, strict=True)
    return ordered((Probability(label, float(share)) for label, share in pairs), count)


def ordered(items: Iterable[Probability], count: int | None = None) -> Ranked:
    """Sort labels by descending probability, then by name; return the top `count`."""
    found = sorted(items, key=lambda item: (-item.probability, item.label))
    return tuple(found if count is None else found[:count])
