"""The prediction for an unlabelled sample, and the benefit of labelling the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves

# Why a sample is worth labelling: the model may be wrong about it, it is unlike the training
# examples, or it is similar to many samples that the model may be wrong about.
UNCERTAIN, UNLIKE, REPRESENTATIVE = "uncertain", "unlike", "representative"


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The predicted label of an unlabelled sample, and how uncertain the prediction is."""

    label: str | None
    """The suggested label; None if no label fits."""
    probability: float
    """Probability of `label`, 0 to 1; 0 if `label` is None."""
    uncertainty: float
    """Probability that the predicted label is wrong, 0 to 1."""
    likeness: float
    """Similarity to the training examples. The scale differs between models."""
    vector: Halves
    """Random projection of the features, float16, shape (128,), see chalicelib/engines/ranking."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Rank of a sample in a ranking, with its score and the reason for the rank."""

    rank: int
    score: float
    """Fraction of the model's expected wrong answers that labelling this sample would correct."""
    reason: str
    """UNCERTAIN, UNLIKE or REPRESENTATIVE."""
    text: str | None = None
