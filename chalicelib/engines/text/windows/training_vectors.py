"""Computes the vectors of training texts from the vectors of their windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from chalicelib.domain.datasets.windows import WindowedTexts
from chalicelib.engines.text.windows.attention import WindowReading, join_windows
from chalicelib.engines.text.windows.fitting import fit_reading

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Singles


class WindowRows(Protocol):
    """The vectors of all windows from one encoder."""

    def rows(self, first: int, last: int) -> Singles:
        """Return the vectors, float32, shape (windows, dims), of windows `first` to `last` - 1."""


class TrainingVectors:
    """Computes the vectors of texts as weighted means of the vectors of their windows."""

    def __init__(
        self,
        split: WindowedTexts,
        labels: Sequence[int],
        label_count: int,
        base: str,
        collect: Callable[[str], WindowRows],
    ) -> None:
        """Store the arguments; `of_texts` uses them.

        Args:
            split: the windows of the texts.
            labels: label index of each text.
            label_count: number of labels.
            base: name of the encoder whose vectors determine the weights of the windows.
            collect: returns the vectors of all windows, given an encoder's name.
        """
        self._split = split
        self._labels = labels
        self._label_count = label_count
        self._base = base
        self._collect = collect
        self._weights: Doubles | None = None
        self._of_base: Singles | None = None
        self.reading = WindowReading()
        """Method of encoding long texts; complete after the first call of `of_texts`."""

    def of_texts(self, name: str) -> Singles:
        """Return the vectors of all texts from the encoder `name`, float32, shape (texts, dims)."""
        split = self._split
        if not split.has_long:
            return self._collect(name).rows(0, len(split.windows))
        if self._of_base is None or self._weights is None:
            found = self._collect(self._base)
            fitted = fit_reading(
                found.rows,
                split.ends,
                np.array(self._labels, np.int64),
                self._label_count,
                self._base,
            )
            self.reading, self._weights = fitted.reading, fitted.weights
            # The windows of the base encoder are not collected again.
            self._of_base = join_windows(found.rows, fitted.weights, split.ends)
        if name == self._base:
            return self._of_base
        return join_windows(self._collect(name).rows, self._weights, split.ends)
