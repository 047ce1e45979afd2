"""Reads the stored features of a training's images, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves


@dataclass(frozen=True)
class StoredPicture:
    """Facts about an image whose features are stored."""

    number: int
    """Number under which the image's features are stored; copies of a file share one number."""
    size: tuple[int, int]
    """Width and height of the image as displayed, in pixels."""
    views: int
    """Number of views that are stored."""


class StoredFeatures:
    """A `FeatureReader` of stored features. Images that could not be decoded have no features."""

    def __init__(
        self,
        places: Sequence[int],
        pictures: Sequence[StoredPicture],
        read: Callable[[int, int], bytes],
        close: Callable[[], None],
    ) -> None:
        """Store the arguments; `row` reads the features.

        Args:
            places: indexes of the images that have features, in ascending order.
            pictures: facts about each of these images.
            read: returns the features as bytes, given `StoredPicture.number` and the view's number.
            close: releases the storage. Features cannot be read afterwards.
        """
        self.places = places
        self._pictures = pictures
        self._read = read
        self.close = close

    def size(self, place: int) -> tuple[int, int]:
        """Return width and height of the image `place` as displayed, in pixels."""
        return self._pictures[place].size

    def views(self, place: int) -> int:
        """Return the number of views of the image `place` that have features, at least 1."""
        return self._pictures[place].views

    def row(self, place: int, view: int = 0) -> Halves:
        """Return the features of one view, float16, shape (row_bytes / 2,), read-only."""
        row = self._read(self._pictures[place].number, view)
        return np.frombuffer(row, np.float16)
