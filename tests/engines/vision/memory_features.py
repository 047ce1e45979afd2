"""Features of a few images, computed at once and held in memory; for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.interface import Extractor


class MemoryFeatures:
    """A FeatureReader of rows in memory; positions are indexes of the images."""

    def __init__(
        self,
        extractor: Extractor,
        pictures: Sequence[Picture],
        digests: Sequence[bytes],
        *,
        augment: bool = False,
        threads: int = 1,
    ) -> None:
        """Compute every row.

        Args:
            extractor: turns views into features.
            pictures: decoded, with at least the extractor's `least_side`.
            digests: of the picture files, 16 bytes each; the seeds of the views.
            augment: whether views other than the pictures themselves are computed.
            threads: how many pictures at a time.
        """

        def rows_of(place: int) -> list[Halves]:
            image = pictures[place]
            views = range(extractor.views(image.width, image.height, augment=augment))
            return [extractor.extract(image, digests[place], view) for view in views]

        self._sizes = [(image.width, image.height) for image in pictures]
        with ThreadPoolExecutor(threads) as pool:
            self._rows = list(pool.map(rows_of, range(len(pictures))))

    def size(self, place: int) -> tuple[int, int]:
        """Return width and height of an image as displayed, in pixels."""
        return self._sizes[place]

    def views(self, place: int) -> int:
        """Return the number of views."""
        return len(self._rows[place])

    def row(self, place: int, view: int = 0) -> Halves:
        """Return the features of one view, float16, shape (row_bytes / 2,)."""
        return self._rows[place][view]
