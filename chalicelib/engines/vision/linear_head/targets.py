"""The labels of the images of a training. An image may have several labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints


class ImageTargets:
    """The labels of each image. Labels without images are left out, so labels are renumbered."""

    def __init__(self, labels_of: Sequence[Sequence[int]], names: int) -> None:
        """Assign a number to each label that any image has.

        Args:
            labels_of: label indexes of every image.
            names: number of labels, including those without an image.
        """
        pairs = [(place, label) for place, own in enumerate(labels_of) for label in sorted({*own})]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        self.pictures = len(labels_of)
        self.names = names
        self.present: Ints = np.unique(table[:, 1])
        """Indexes of the labels that occur, ascending, int, shape (labels,)."""
        self.places: Ints = table[:, 0]
        """Index of the image in every pair of image and label, ascending, int, shape (pairs,)."""
        self.labels: Ints = np.searchsorted(self.present, table[:, 1]).astype(np.int64)
        """Index in `present` of the label in every pair, int, shape (pairs,)."""
        self._first = np.searchsorted(self.places, np.arange(self.pictures + 1))

    @property
    def size(self) -> int:
        """Number of labels that at least one image has."""
        return len(self.present)

    def single(self) -> Ints:
        """Return the first label of every image, int, shape (images,)."""
        return self.labels[self._first[:-1]]

    def dense(self, places: Ints, dtype: Any = np.float64) -> Floats:
        """Return a matrix that is 1 where an image has a label, else 0; shape (n, labels).

        Args:
            places: indexes of the images, int, shape (n,).
            dtype: type of the result.
        """
        counts = self._first[places + 1] - self._first[places]
        rows = np.repeat(np.arange(len(places)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = self.labels[np.repeat(self._first[places], counts) + within]
        dense = np.zeros((len(places), self.size), dtype)
        dense[rows, columns] = 1
        return dense

    def counts(self, places: Ints) -> Ints:
        """Return, for each label, how many images of `places` have it, int, shape (labels,)."""
        chosen = np.zeros(self.pictures, bool)
        chosen[places] = True
        return np.bincount(self.labels[chosen[self.places]], minlength=self.size)
