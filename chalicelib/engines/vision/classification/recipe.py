"""How a softmax head over whitened embeddings is fitted.

Its weights begin at the labels' mean directions, which alone answer well when examples are few, and
the epochs correct them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.vision.classification.whitening import Whitening, fit_whitening
from chalicelib.engines.vision.head.linear import SoftmaxLoss
from chalicelib.engines.vision.similarity.vectors import unit_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.vision.features.table import FeatureTable, Rows
    from chalicelib.engines.vision.head.targets import Targets

    Floats = npt.NDArray[np.floating[Any]]
    Halves = npt.NDArray[np.float16]
    Ints = npt.NDArray[np.int64]

START_LENGTH = 8.0
"""Length of every label's weights at the start; features have length one."""
_DECAY = 1e-3


class ImageRecipe:
    """The Recipe of the type image."""

    def __init__(self, targets: Targets) -> None:
        self._labels = targets.single()
        self._size = targets.size

    @property
    def decay(self) -> float:
        """How strongly weights are pulled to where they started."""
        return _DECAY

    def fit_transform(self, block: int, raw: Halves, places: Ints) -> Whitening:
        """Estimate the whitening.

        Args:
            block: there is one block only.
            raw: embeddings of the training part, float16, shape (n, 1280).
            places: picture of every row, int, shape (n,).
        """
        del block
        return fit_whitening(raw, self._labels[places])

    def start(self, table: FeatureTable, rows: Rows, places: Ints) -> Floats:
        """Mean directions of the labels.

        Args:
            table: whitened features.
            rows: which rows belong to a picture.
            places: pictures of the training part, int, shape (n,).

        Returns:
            Weights and, last, biases of zero: float64, shape (1281, labels).
        """
        means = np.zeros((self._size, table.dims))
        is_trained = np.zeros(len(rows.first), bool)
        is_trained[places] = True
        chosen = np.flatnonzero(is_trained[rows.places])
        labels = self._labels[rows.places[chosen]]
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(self._size + 1))
        for label in range(self._size):
            means[label] = table.total(chosen[order[bounds[label] : bounds[label + 1]]])
        start = np.zeros((table.dims + 1, self._size))
        start[:-1] = START_LENGTH * unit_rows(means).T
        return start

    def loss(self, places: Ints) -> SoftmaxLoss:
        """Cross-entropy, whatever the pictures."""
        del places
        return SoftmaxLoss()
