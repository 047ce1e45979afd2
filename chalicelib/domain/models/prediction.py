"""Predictions: labels or objects with probabilities, and the top N. Spec: Prediction response."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from chalicelib.domain.documents.picture import PixelBox

if TYPE_CHECKING:
    from chalicelib.domain.accounts.usage import Usage
    from chalicelib.domain.documents.sample import Sample
    from chalicelib.domain.models.explanation import Explanation
    from chalicelib.domain.models.judgement import Judgement
    from chalicelib.domain.models.model import ServedModel

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Probability:
    """One label with its probability."""

    label: str
    probability: float
    """Probability that the label is right, 0 to 1."""


# Labels, most probable first.
Ranked = tuple[Probability, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """A detected object: label, probability and box."""

    label: str
    probability: float
    """Probability that the label is right, 0 to 1."""
    box: PixelBox


def as_json(item: Probability | Detection) -> dict[str, Any]:
    """Return a predicted label or object in the JSON form that exported models store."""
    one: dict[str, Any] = {"label": item.label, "probability": item.probability}
    if isinstance(item, Detection):
        box = item.box
        one["box"] = [box.min_x, box.min_y, box.max_x, box.max_y]
    return one


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """Options of a prediction call."""

    count: int | None = None
    """Maximum number of labels to return; None for the default of the model's type."""
    explains: bool = False
    """Whether to explain the first label of the answer."""
    judges: bool = False
    """Whether to return a `Judgement` for a ranking instead of labels."""


# For a call without options.
DEFAULTS = PredictionOptions()


@dataclass(frozen=True)
class Prediction(Generic[Item]):
    """A model's answer for one sample."""

    items: Sequence[Item]
    usage: Usage | None = None
    """The month's usage with this prediction; None if the calling service counts predictions."""
    explanation: Explanation | None = None
    """Explanation of the first label, if requested."""
    judgement: Judgement | None = None
    """How uncertain the prediction is, for a ranking, if requested."""


class TextPredictor(Protocol):
    """Predicts texts for batches and exports."""

    def check(self, model: ServedModel, dataset_type: str) -> None:
        """Raise an error if a model is not ready or not of this type."""

    def predict(
        self,
        model: ServedModel,
        texts: Sequence[str],
        *,
        dataset_type: str,
        options: PredictionOptions,
    ) -> Sequence[Prediction[Probability]]:
        """Predict texts, each with the same result as in a call for a single text."""


class ImagePredictor(Protocol):
    """Predicts images for batches and exports."""

    def check(self, model: ServedModel, types: Collection[str]) -> None:
        """Raise an error if a model is not ready or not of one of these types."""

    def predict(
        self,
        model: ServedModel,
        samples: Sequence[Sample],
        *,
        types: Collection[str],
        options: PredictionOptions,
    ) -> Sequence[Prediction[Probability | Detection]]:
        """Predict images, each with the same result as in a call for a single image."""


def ranked(labels: Iterable[str], shares: Iterable[float], count: int | None = None) -> Ranked:
    """Return the `count` most probable labels; `shares` has the probability of each label."""
    pairs = zip(labels, shares, strict=True)
    return ordered((Probability(label, float(share)) for label, share in pairs), count)


def ordered(items: Iterable[Probability], count: int | None = None) -> Ranked:
    """Sort labels by descending probability, then by name; return the first `count`."""
    found = sorted(items, key=lambda item: (-item.probability, item.label))
    return tuple(found if count is None else found[:count])
