"""A model's judgement of unlabelled samples, and which of them are worth labelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves

UNCERTAIN, UNLIKE, REPRESENTATIVE = "uncertain", "unlike", "representative"
# Why a sample is worth labelling: the model may be wrong about it, it is unlike the training
# examples, or it is similar to many samples that the model may be wrong about.
REASONS = (UNCERTAIN, UNLIKE, REPRESENTATIVE)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The predicted label of an unlabelled sample, and how uncertain the prediction is."""

    label: str | None
    """The suggested label; None if no label fits."""
    probability: float
    """Probability of the label; 0 without one."""
    uncertainty: float
    """Probability that the answer is wrong, 0 to 1."""
    likeness: float
    """Similarity to the training examples, on the model's own scale."""
    vector: Halves
    """Random projection of the features, float16, shape (128,), see chalicelib/engines/ranking."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Position of a sample in a ranking, with score and reason."""

    rank: int
    score: float
    """Fraction of the expected wrong answers that this label would correct."""
    reason: str
    """One of REASONS."""
    text: str | None = None
