"""The features of a training's pictures, read row by row from wherever they are kept.

Made by chalicelib/services/training/features.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves


@dataclass(frozen=True)
class StoredPicture:
    """What is known of one picture's features."""

    number: int
    """What the picture is called where rows are read; equal files of a dataset share it."""
    size: tuple[int, int]
    """Width and height as displayed, in pixels."""
    views: int
    """How many views are there."""


class StoredFeatures:
    """A FeatureReader; what `places` leaves out has no features, because it cannot be read."""

    def __init__(
        self,
        places: Sequence[int],
        pictures: Sequence[StoredPicture],
        read: Callable[[int, int], bytes],
        close: Callable[[], None],
    ) -> None:
        """Wrap what is kept.

        Args:
            places: which of the pictures that were asked for are here, ascending.
            pictures: one for each of these.
            read: returns the bytes of a row by number and view.
            close: gives space back; nothing can be read afterwards.
        """
        self.places = places
        self._pictures = pictures
        self._read = read
        self.close = close

    def size(self, place: int) -> tuple[int, int]:
        """Width and height of a picture as displayed, in pixels."""
        return self._pictures[place].size

    def views(self, place: int) -> int:
        """How many views are there, at least 1."""
        return self._pictures[place].views

    def row(self, place: int, view: int = 0) -> Halves:
        """Features of one view, float16, shape (row_bytes / 2,), read-only."""
        row = self._read(self._pictures[place].number, view)
        return np.frombuffer(row, np.float16)
