"""A table of transformed features, filled in chunks. Each number takes two bytes.

A hundred thousand images take 256 MB. Float values are computed from the table in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.errors import TrainingFailed

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Halves, Ints
    from chalicelib.engines.vision.interface import FeatureReader

# With more rows, views are left out, but never images.
MAX_ROWS = 200_000
# Rows that are transformed at a time.
CHUNK_ROWS = 1_024
_MOST = 32_767


class Rows:
    """Assigns a row index to each view of each image, and reads raw features by row index."""

    def __init__(self, reader: FeatureReader, names: Sequence[str]) -> None:
        self._reader = reader
        self._names = names
        pictures = len(names)
        most = max(1, MAX_ROWS // max(pictures, 1))
        self.views: Ints = np.array(
            [min(most, reader.views(place)) for place in range(pictures)], np.int64
        )
        """Number of views of every image, int, shape (images,)."""
        self.first: Ints = np.cumsum(self.views) - self.views
        """Index of the row of every image's view 0, int, shape (images,)."""
        self.places: Ints = np.repeat(np.arange(pictures), self.views)
        """Index of the image of every row, int, shape (rows,)."""

    def raw(self, rows: Ints) -> Halves:
        """Return the raw features, float16, shape (n, dims), of the row indexes `rows`.

        Raises:
            TrainingFailed: a number is not finite.
        """
        places = self.places[rows]
        views = rows - self.first[places]
        raw = np.stack(
            [
                self._reader.row(int(place), int(view))
                for place, view in zip(places, views, strict=True)
            ]
        )
        is_broken = ~np.isfinite(raw).all(axis=1)
        if is_broken.any():
            name = self._names[int(places[is_broken][0])]
            raise TrainingFailed(
                f"The features of {int(is_broken.sum())} images are not finite numbers, the "
                f"first is {name}. Upload the dataset again and train again."
            )
        return raw


class FeatureTable:
    """A table of transformed features. Numbers are stored as int16 multiples of `unit`."""

    def __init__(
        self,
        rows: Rows,
        row_indexes: Ints,
        transform: Callable[[Halves], Doubles],
        dims: int,
        unit: float,
    ) -> None:
        """Allocate the table.

        Args:
            rows: reads raw features by row index.
            row_indexes: indexes of the rows to fill, int, shape (n,); other rows stay empty.
            transform: converts raw features, float16, shape (n, m), to float64, shape (n, dims).
            dims: length of a transformed row.
            unit: step between two stored values, a power of two; values beyond 32,767 steps are
                clipped.
        """
        self._rows = rows
        self._needed = row_indexes
        self._transform = transform
        self._unit = unit
        self._values = np.empty((len(rows.places), dims), np.int16)
        self._filled = 0

    @property
    def dims(self) -> int:
        """Length of a row of transformed features."""
        return self._values.shape[1]

    @property
    def share(self) -> float:
        """Fraction of the needed rows that are filled, 0 to 1."""
        return self._filled / max(len(self._needed), 1)

    @property
    def is_full(self) -> bool:
        """Whether every needed row is filled."""
        return self._filled == len(self._needed)

    def fill(self) -> None:
        """Transform the next chunk of rows, and store it."""
        rows = self._needed[self._filled : self._filled + CHUNK_ROWS]
        values = np.rint(self._transform(self._rows.raw(rows)) / self._unit)
        self._values[rows] = np.clip(values, -_MOST, _MOST)
        self._filled += len(rows)

    def take(self, rows: Ints) -> Doubles:
        """Return the transformed features, float64, shape (n, dims), of the row indexes `rows`."""
        values: Doubles = self._values[rows].astype(np.float64)
        values *= self._unit
        return values

    def total(self, rows: Ints) -> Doubles:
        """Return the exact sum of transformed features, float64, (dims,), over `rows`."""
        totals = np.zeros(self.dims, np.int64)
        for first in range(0, len(rows), CHUNK_ROWS):
            part = self._values[rows[first : first + CHUNK_ROWS]]
            totals += np.add.reduce(part, axis=0, dtype=np.int64)
        sums: Doubles = totals.astype(np.float64) * self._unit
        return sums
