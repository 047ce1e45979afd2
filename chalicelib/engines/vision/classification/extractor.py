"""One vector a view: the mean of the backbone's last map of the squashed picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.backbone.pool import LITE2
from chalicelib.engines.vision.backbone.resizing import draw_augmentation, squash
from chalicelib.engines.vision.backbone.square_extractor import SquareExtractor

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves
    from chalicelib.domain.documents.picture import Picture

SIDE = 320
"""Pixels of the square that the backbone sees."""
DIMS = 1280
"""Length of a vector."""


class ClassificationExtractor(SquareExtractor):
    """The Extractor of the type image."""

    name = "classification"
    revision = "classification 1"
    sides = (SIDE,)
    networks = (LITE2,)
    dims = DIMS
    row_seconds = 0.035

    def extract(self, picture: Picture, digest: bytes, view: int) -> Halves:
        """Compute the features of one view.

        Args:
            picture: decoded with `least_side`.
            digest: of the picture file; the seed of the view.
            view: from 0.

        Returns:
            Means of the last map, at least 0 and at most 6, float16, shape (1280,).
        """
        pixels = squash(picture.pixels, SIDE, draw_augmentation(digest, view))
        embedding = self._backbones.get(LITE2).run(pixels[None], ["embedding"])[0]
        halves: Halves = embedding[0].astype(np.float16)
        return halves
