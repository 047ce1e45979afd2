"""Retains a limited number of the judged samples, chosen at random, for the ranking.

Source: Duffield, Lund, Thorup 2007, Priority sampling for estimation of arbitrary subset sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Doubles, Floats, Halves, Ints, Singles
    from chalicelib.engines.ranking.parts import Judged

# The selection compares all pairs, so their number is limited.
POOL_SAMPLES = 5_000
# Minimum uncertainty of a sample, so that samples can be selected even if the model is certain of
# all.
_LEAST_UNCERTAINTY = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples from several parts of a ranking, with the model's judgements."""

    parts: Ints
    """Index of the ranking's part that contains each sample, int, shape (samples,)."""
    rows: Ints
    """Index of each sample among the judged samples of its part, int, shape (samples,)."""
    uncertainties: Singles
    """Probability that each prediction is wrong, float32, shape (samples,)."""
    likeness: Singles
    """Similarity of each sample to the training data of the model, float32, shape (samples,)."""
    vectors: Halves
    """Vectors for comparing samples, float16, shape (samples, 128)."""
    priorities: Doubles
    """Priority of each sample, float64; samples with the highest priorities are retained."""

    def at(self, places: Ints) -> Samples:
        """Return the samples at the given indexes."""
        return Samples(*(getattr(self, name)[places] for name in self.__slots__))


class SamplePool:
    """Collects the samples of all parts in limited memory.

    Which samples are retained depends on their uncertainties and on a hash of their positions. On
    average, the weights of the retained samples add up to the sum of all uncertainties.
    """

    def __init__(self, size: int = POOL_SAMPLES) -> None:
        self._size = size
        self._kept: Samples | None = None
        self._threshold = 0.0

    def add(self, part: int, judged: Judged) -> None:
        """Add the samples of a part. Parts must be added in the order of their numbers."""
        count = len(judged.lines)
        if not count:
            return
        uncertainties = np.maximum(judged.uncertainties, np.float32(_LEAST_UNCERTAINTY))
        chances = _chances(part, judged.lines)
        new = Samples(
            parts=np.full(count, part, np.int64),
            rows=np.arange(count),
            uncertainties=uncertainties,
            likeness=judged.likeness,
            vectors=judged.vectors,
            priorities=uncertainties.astype(np.float64) / chances,
        )
        self._kept = new if self._kept is None else _joined(self._kept, new)
        # Trimming sorts, so it happens only at twice the size and at the end.
        if len(self._kept.parts) > 2 * self._size:
            self._trim()

    def samples(self) -> tuple[Samples, Singles] | None:
        """Return the retained samples in order, and their weights, float32; None if empty."""
        self._trim()
        if self._kept is None:
            return None
        return self._kept, np.maximum(self._kept.uncertainties, np.float32(self._threshold))

    def _trim(self) -> None:
        """Remove the samples of the lowest priorities if there are too many.

        The highest priority among the removed samples becomes the threshold, from which the weights
        are computed.
        """
        kept = self._kept
        if kept is None or len(kept.parts) <= self._size:
            return
        order = np.argsort(-kept.priorities, kind="stable")
        self._threshold = max(self._threshold, float(kept.priorities[order[self._size]]))
        self._kept = kept.at(np.sort(order[: self._size]))


def _joined(first: Samples, second: Samples) -> Samples:
    both = ((getattr(first, name), getattr(second, name)) for name in Samples.__slots__)
    return Samples(*(np.concatenate(pair) for pair in both))


def _chances(part: int, lines: Ints) -> Floats:
    """Return a pseudo-random number in (0, 1] for each line, from a hash, float64, (lines,).

    Source: Steele, Lea, Flood 2014, Fast splittable pseudorandom number generators (splitmix64).
    """
    with np.errstate(over="ignore"):
        state: npt.NDArray[np.uint64] = lines.astype(np.uint64) + np.uint64(part << 32)
        state = (state + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return ((state >> np.uint64(11)).astype(np.float64) + 1.0) / 2.0**53
