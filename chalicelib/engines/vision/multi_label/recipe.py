"""How independent sigmoids over standardised features are fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.text.head.arithmetic import exact_log
from chalicelib.engines.vision.head.linear import SigmoidLoss
from chalicelib.engines.vision.multi_label.standardizing import Standardizing, fit_standardizing

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.vision.features.table import FeatureTable, Rows
    from chalicelib.engines.vision.head.targets import Targets

    Floats = npt.NDArray[np.floating[Any]]
    Halves = npt.NDArray[np.float16]
    Ints = npt.NDArray[np.int64]

_DECAY = 1e-2
_MOST_WEIGHT = 5.0
_HALF = 0.5


class MultiLabelRecipe:
    """The Recipe of the type image-multi-label."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    @property
    def decay(self) -> float:
        """How strongly weights are pulled to where they started, that is to 0."""
        return _DECAY

    def fit_transform(self, block: int, raw: Halves, places: Ints) -> Standardizing:
        """Estimate mean and spread.

        Args:
            block: which columns.
            raw: features of the training part, float16, shape (n, 2992).
            places: picture of every row, int, shape (n,).
        """
        del places
        return fit_standardizing(raw, block)

    def start(self, table: FeatureTable, rows: Rows, places: Ints) -> Floats:
        """Weights of zero, and biases that answer how frequent a label is.

        Args:
            table: standardised features.
            rows: which rows belong to a picture.
            places: pictures of the training part, int, shape (n,).

        Returns:
            Float64, shape (dims + 1, labels).
        """
        del rows
        counts = self._targets.counts(places).astype(np.float64)
        start = np.zeros((table.dims + 1, self._targets.size))
        start[-1] = exact_log((counts + _HALF) / (len(places) - counts + _HALF))
        return start

    def loss(self, places: Ints) -> SigmoidLoss:
        """Binary cross-entropies that weigh rare labels, int, shape (n,)."""
        return SigmoidLoss(self.positive_weights(places))

    def positive_weights(self, places: Ints) -> npt.NDArray[np.float64]:
        """Weight of a picture that has a label: root of the odds against it, at most 5.

        Args:
            places: pictures of the training part, int, shape (n,).

        Returns:
            Float64, shape (labels,).
        """
        counts = self._targets.counts(places).astype(np.float64)
        odds = np.maximum(len(places) - counts, 1.0) / np.maximum(counts, 1.0)
        return np.minimum(np.sqrt(odds), _MOST_WEIGHT)
