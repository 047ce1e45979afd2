"""One vector a view: the mean of the backbone's last map, of the whole picture and of its middle.

Most pictures that are sorted show their thing in the middle, so a second look at it alone tells
labels apart that the whole confuses; where the thing lies elsewhere the first look still counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.backbone.pool import LITE2
from chalicelib.engines.vision.backbone.resizing import Augmentation, draw_augmentation, squash
from chalicelib.engines.vision.backbone.square_extractor import SquareExtractor

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves
    from chalicelib.domain.documents.picture import Picture


@dataclass(frozen=True, slots=True)
class Look:
    """A part of a view that the backbone sees."""

    share: float
    """Share of the view's width and height, around its centre."""
    side: int
    """Pixels of the square that the part is squashed to."""

    def at(self, view: Augmentation) -> Augmentation:
        """Narrow a view down to this part of it."""
        left, top, right, bottom = view.crop
        margin = (1.0 - self.share) / 2
        wide, high = margin * (right - left), margin * (bottom - top)
        return replace(view, crop=(left + wide, top + high, right - wide, bottom - high))


# The only look of models that were trained before there was a second.
WHOLE = Look(1.0, 320)
MIDDLE = Look(0.6, 224)
# What new models see of a view.
LOOKS = (WHOLE, MIDDLE)
# Pixels of the largest square that the backbone sees.
SIDE = WHOLE.side
# Length of a vector.
DIMS = 1280


class ClassificationExtractor(SquareExtractor):
    """The Extractor of the type image."""

    name = "classification"
    revision = "classification 2"
    sides = tuple(look.side for look in LOOKS)
    networks = (LITE2,)
    dims = DIMS
    row_seconds = 0.053

    def extract(
        self, picture: Picture, digest: bytes, view: int, looks: Sequence[Look] = LOOKS
    ) -> Halves:
        """Compute the features of one view.

        Args:
            picture: decoded with `least_side`.
            digest: of the picture file; the seed of the view.
            view: from 0.
            looks: what is seen of the view.

        Returns:
            Means of the last maps, at least 0 and at most 6, float16, shape (1280,).
        """
        backbone, shown = self._backbones.get(LITE2), draw_augmentation(digest, view)
        squares = [squash(picture.pixels, look.side, look.at(shown)) for look in looks]
        vectors = [backbone.run(square[None], ["embedding"])[0][0] for square in squares]
        halves: Halves = np.mean(vectors, axis=0).astype(np.float16)
        return halves
