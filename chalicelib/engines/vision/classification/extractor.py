"""Extracts one vector per view: the backbone's mean over the image and over its middle.

Most images show their object in the middle. A second vector of the middle separates labels that
look similar in the whole image.
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
    """A part of a view that the backbone processes separately."""

    share: float
    """Fraction of the view's width and height, around its centre."""
    side: int
    """Pixels of the square that the part is squashed to."""

    def at(self, view: Augmentation) -> Augmentation:
        """Return this part of a view."""
        left, top, right, bottom = view.crop
        margin = (1.0 - self.share) / 2
        wide, high = margin * (right - left), margin * (bottom - top)
        return replace(view, crop=(left + wide, top + high, right - wide, bottom - high))


# The only look of models that were trained before the second one existed.
WHOLE = Look(1.0, 320)
MIDDLE = Look(0.6, 224)
# Looks of new models.
LOOKS = (WHOLE, MIDDLE)
# Side of the largest square that the backbone sees, in pixels.
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
        self, image: Picture, digest: bytes, view: int, looks: Sequence[Look] = LOOKS
    ) -> Halves:
        """Return the features of one view, 0 to 6, float16, shape (1280,).

        Args:
            image: decoded with `least_side`.
            digest: digest of the image file; the seed of the view.
            view: from 0.
            looks: crops of the view to average.
        """
        backbone, shown = self._backbones.get(LITE2), draw_augmentation(digest, view)
        squares = [squash(image.pixels, look.side, look.at(shown)) for look in looks]
        vectors = [backbone.run(square[None], ["embedding"])[0][0] for square in squares]
        halves: Halves = np.mean(vectors, axis=0).astype(np.float16)
        return halves
