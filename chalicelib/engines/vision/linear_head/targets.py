"""Labels of a training's pictures, any number each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints


class PictureTargets:
    """Which picture has which labels, counting only labels that occur."""

    def __init__(self, labels_of: Sequence[Sequence[int]], names: int) -> None:
        """Number the labels that occur.

        Args:
            labels_of: label indexes of every picture.
            names: how many labels there are, with those that no picture has.
        """
        pairs = [(place, label) for place, own in enumerate(labels_of) for label in sorted({*own})]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        self.pictures = len(labels_of)
        """How many pictures there are."""
        self.names = names
        """How many labels there are."""
        self.present: Ints = np.unique(table[:, 1])
        """Indexes of the labels that occur, ascending, int, shape (labels,)."""
        self.places: Ints = table[:, 0]
        """Picture of every pair of picture and label, ascending, int, shape (pairs,)."""
        self.labels: Ints = np.searchsorted(self.present, table[:, 1]).astype(np.int64)
        """Place in `present` of every pair's label, int, shape (pairs,)."""
        self._first = np.searchsorted(self.places, np.arange(self.pictures + 1))

    @property
    def size(self) -> int:
        """How many labels occur."""
        return len(self.present)

    def single(self) -> Ints:
        """First label of every picture, int, shape (pictures,); for pictures of one label."""
        return self.labels[self._first[:-1]]

    def dense(self, places: Ints, dtype: Any = np.float64) -> Floats:
        """Spread the labels of pictures over columns.

        Args:
            places: pictures, int, shape (n,).
            dtype: of the answer.

        Returns:
            1 where a picture has a label, else 0, shape (n, labels).
        """
        counts = self._first[places + 1] - self._first[places]
        rows = np.repeat(np.arange(len(places)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = self.labels[np.repeat(self._first[places], counts) + within]
        dense = np.zeros((len(places), self.size), dtype)
        dense[rows, columns] = 1
        return dense

    def counts(self, places: Ints) -> Ints:
        """Count the pictures, int, shape (n,), of every label, int, shape (labels,)."""
        chosen = np.zeros(self.pictures, bool)
        chosen[places] = True
        return np.bincount(self.labels[chosen[self.places]], minlength=self.size)
