"""Selects samples whose labels would correct as many of the model's expected errors as possible.

Labelling a sample corrects its error, and a fraction of the error of each similar sample. The
fraction is a kernel of the vectors of both samples. Errors that are already corrected do not count
again, so near-duplicates of a selected sample have no value. The selection is greedy: the next
sample is always the one with the largest gain. Sources: Wei, Iyer, Bilmes 2015, Submodularity in
data subset selection and active learning (facility location); Minoux 1978, Accelerated greedy
algorithms (upper bounds instead of all gains).
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

# Width of the kernel: at a cosine of 1 - WIDTH, a label corrects 1/e of the other sample's error.
WIDTH = 0.1
# Cosine from which two samples count as the same.
NEAR = 0.95
# Gains that are computed at a time.
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Pick:
    """A selected sample, with its score and the reason."""

    at: int
    """Index of the sample."""
    score: float
    """Fraction of all expected errors that this label corrects and that earlier labels do not."""
    reason: str
    """Criterion by which the sample ranks highest: `uncertain`, `unlike` or `representative`."""


def choose(
    vectors: Floats,
    weights: Singles,
    uncertainties: Singles,
    likeness: Singles,
    count: int,
    check: Callable[[], None] = lambda: None,
) -> list[Pick]:
    """Select samples to label, the best first.

    Args:
        vectors: vectors for comparing samples, float, shape (samples, 128).
        weights: number of expected errors that each sample represents, above 0, float32,
            (samples,).
        uncertainties: probability that the prediction for a sample is wrong, float32, shape
            (samples,).
        likeness: similarity to the training data of the model, float32, shape (samples,).
        count: maximum number of samples. Fewer are returned if all other samples are
            near-duplicates of selected samples.
        check: called regularly; may raise an error to stop.
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
    """Computes the gain of each sample. Errors that selected samples correct are left out."""

    def __init__(self, vectors: Singles, weights: Singles) -> None:
        self._vectors, self._weights = vectors, weights
        self._settled = np.zeros(len(vectors), np.float32)
        self._is_free: Bools = np.ones(len(vectors), bool)
        self._is_exact: Bools = np.ones(len(vectors), bool)
        self.gains: Singles = np.empty(len(vectors), np.float32)
        """Upper bound of each sample's gain; the gain itself where `_is_exact` is True."""
        for first in range(0, len(vectors), _BLOCK):
            self._measure(np.arange(first, min(first + _BLOCK, len(vectors))))

    def best(self) -> int | None:
        """Return the index of the sample with the largest gain; if gains are equal, the first one.

        Return None if all samples are selected or excluded.
        """
        if not self._is_free.any():
            return None
        while True:
            # Gains only fall, so an earlier gain is an upper bound of the present one.
            bounds = np.where(self._is_free, self.gains, -1.0)
            found = int(bounds.argmax())
            if self._is_exact[found]:
                return found
            bounds[self._is_exact] = -1.0
            highest = np.argpartition(-bounds, min(_BLOCK, len(bounds)) - 1)[:_BLOCK]
            self._measure(highest[bounds[highest] >= 0.0])

    def take(self, index: int) -> None:
        """Select a sample: correct the errors of similar samples, and exclude near-duplicates."""
        near = self._vectors @ self._vectors[index]
        np.maximum(self._settled, kernel(near), out=self._settled)
        self._is_free &= near < NEAR
        self._is_free[index] = False
        self._is_exact[:] = False

    def _measure(self, places: Ints) -> None:
        reach = kernel(self._vectors[places] @ self._vectors.T)
        self.gains[places] = np.maximum(reach - self._settled, 0.0) @ self._weights
        self._is_exact[places] = True


def kernel(cosines: Singles) -> Singles:
    """Return the fraction of a sample's error that the label of another sample corrects.

    Args:
        cosines: cosine similarity of the vectors of each pair of samples, float32, any shape.
    """
    reach: Singles = np.exp((np.minimum(cosines, 1.0) - 1.0) / np.float32(WIDTH))
    return reach


def _reasons(uncertainties: Singles, likeness: Singles, neighbours: Singles) -> list[str]:
    names = (UNCERTAIN, UNLIKE, REPRESENTATIVE)
    places = np.stack([_standing(values) for values in (uncertainties, -likeness, neighbours)])
    return [names[at] for at in places.argmax(axis=0)]


def _standing(values: Singles) -> Doubles:
    ordered = np.sort(values)
    return np.searchsorted(ordered, values, "left") / len(values)
