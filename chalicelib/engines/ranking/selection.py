"""Chooses what to label next: what settles most of the answers that are expected to be wrong.

A label settles the answer to its own sample, and in part to those near it: as far as the kernel
of their vectors tells. What others have settled already does not count again, so near-duplicates
of a chosen sample are worth nothing. Chosen greedily, the next one is always the best one.

Source: Wei, Iyer, Bilmes 2015, Submodularity in data subset selection and active learning
(facility location); Minoux 1978, Accelerated greedy algorithms (bounds in place of all gains).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.models.judgement import REPRESENTATIVE, UNCERTAIN, UNLIKE
from chalicelib.engines.ranking.vectors import unit

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints, Singles

# How far a label reaches: at a cosine of 1 - WIDTH it settles 1/e of an answer.
WIDTH = 0.1
# Cosine from which on two samples say the same.
NEAR = 0.95
# Gains that are computed at a time.
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Pick:
    """A sample that is worth a label."""

    at: int
    """Its place among the samples."""
    score: float
    """Share of the expected wrong answers that it settles and those before it do not."""
    reason: str
    """`uncertain`, `unlike` or `representative`: what it is more than others are."""


def choose(
    vectors: Floats,
    weights: Singles,
    uncertainties: Singles,
    likeness: Singles,
    count: int,
    check: Callable[[], None] = lambda: None,
) -> list[Pick]:
    """Choose samples, the best first.

    Args:
        vectors: short vectors, float, shape (samples, 128).
        weights: expected wrong answers that each sample stands for, above 0, float32, (samples,).
        uncertainties: probability that its own answer is wrong, float32, shape (samples,).
        likeness: similarity to the training data of the model, float32, shape (samples,).
        count: how many to choose; fewer come where the rest says the same as what was chosen.
        check: called now and then; raises to stop.
    """
    field = _Field(unit(vectors.astype(np.float32)), weights)
    reasons = _reasons(uncertainties, likeness, field.gains - weights)
    total = float(np.add.reduce(weights, dtype=np.float64))
    picks: list[Pick] = []
    while len(picks) < count:
        check()
        best = field.best()
        if best is None:
            break
        picks.append(Pick(best, float(field.gains[best]) / total, reasons[best]))
        field.take(best)
    return picks


class _Field:
    """The samples, and how much of each is settled."""

    def __init__(self, vectors: Singles, weights: Singles) -> None:
        self._vectors, self._weights = vectors, weights
        self._settled = np.zeros(len(vectors), np.float32)
        self._is_free: Bools = np.ones(len(vectors), bool)
        self._is_exact: Bools = np.ones(len(vectors), bool)
        self.gains: Singles = np.empty(len(vectors), np.float32)
        """What each sample settles at most, and exactly where it is the best."""
        for first in range(0, len(vectors), _BLOCK):
            self._measure(np.arange(first, min(first + _BLOCK, len(vectors))))

    def best(self) -> int | None:
        """Return the sample that settles most, the first of equals; None when none is free."""
        if not self._is_free.any():
            return None
        while True:
            # Gains only ever fall, so what was measured before is a bound of what it is now.
            bounds = np.where(self._is_free, self.gains, -1.0)
            found = int(bounds.argmax())
            if self._is_exact[found]:
                return found
            bounds[self._is_exact] = -1.0
            highest = np.argpartition(-bounds, min(_BLOCK, len(bounds)) - 1)[:_BLOCK]
            self._measure(highest[bounds[highest] >= 0.0])

    def take(self, chosen: int) -> None:
        """Settle what a sample settles; what says the same is not chosen any more."""
        near = self._vectors @ self._vectors[chosen]
        np.maximum(self._settled, kernel(near), out=self._settled)
        self._is_free &= near < NEAR
        self._is_free[chosen] = False
        self._is_exact[:] = False

    def _measure(self, places: Ints) -> None:
        reach = kernel(self._vectors[places] @ self._vectors.T)
        self.gains[places] = np.maximum(reach - self._settled, 0.0) @ self._weights
        self._is_exact[places] = True


def kernel(cosines: Singles) -> Singles:
    """How much of an answer a label settles, 0 to 1, float32, of any shape."""
    reach: Singles = np.exp((np.minimum(cosines, 1.0) - 1.0) / np.float32(WIDTH))
    return reach


def _reasons(uncertainties: Singles, likeness: Singles, neighbours: Singles) -> list[str]:
    """Say of each sample what it is more than others are."""
    names = (UNCERTAIN, UNLIKE, REPRESENTATIVE)
    places = np.stack([_standing(values) for values in (uncertainties, -likeness, neighbours)])
    return [names[at] for at in places.argmax(axis=0)]


def _standing(values: Singles) -> Doubles:
    """Share of the samples that have a lower value, float64, shape (samples,)."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values, "left") / len(values)
