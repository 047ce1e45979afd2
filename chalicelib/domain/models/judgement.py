"""What a model makes of samples that nobody has labelled, and which of them should be labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves

UNCERTAIN, UNLIKE, REPRESENTATIVE = "uncertain", "unlike", "representative"
# Why a sample is worth a label: the model may be wrong about it; it is unlike what the model has
# learnt; many others that the model may be wrong about are like it.
REASONS = (UNCERTAIN, UNLIKE, REPRESENTATIVE)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What a model makes of one sample."""

    label: str | None
    """The label that it suggests; None when it finds that none fits."""
    probability: float
    """Probability of that label; 0 without one."""
    uncertainty: float
    """Probability that the answer is wrong, 0 to 1."""
    likeness: float
    """How much the sample is like what the model has learnt; of its own scale."""
    vector: Halves
    """Where it lies among others, float16, shape (128,), see chalicelib/engines/ranking."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Place of a sample in a ranking."""

    rank: int
    """From 1."""
    score: float
    """Share of the answers that are expected to be wrong which this label would settle."""
    reason: str
    """One of REASONS."""
    text: str | None = None
