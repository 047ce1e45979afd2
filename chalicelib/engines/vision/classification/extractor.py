"""Computes one vector per view of an image, with one backbone that runs twice.

The backbone runs on the whole view and on its middle, and the outputs are averaged. Most images
show their object in the middle, so this helps to separate labels with similar whole images.
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
    """The part of a view that the backbone receives: the middle part or the whole view."""

    share: float
    """Side of the part, which is the middle of the view, as a fraction of the view's side."""
    side: int
    """Side of the square to which the part is scaled, in pixels."""

    def at(self, view: Augmentation) -> Augmentation:
        """Return a view of only the part of `view` that this `Look` selects."""
        left, top, right, bottom = view.crop
        margin = (1.0 - self.share) / 2
        wide, high = margin * (right - left), margin * (bottom - top)
        return replace(view, crop=(left + wide, top + high, right - wide, bottom - high))


# The only part that older models use: the whole image.
WHOLE = Look(1.0, 320)
MIDDLE = Look(0.6, 224)
# Parts that new models use.
LOOKS = (WHOLE, MIDDLE)
# Side of the largest square input of the backbone, in pixels.
SIDE = WHOLE.side
# Length of a vector.
DIMS = 1280


class ClassificationExtractor(SquareExtractor):
    """The `Extractor` of the type image."""

    name = "classification"
    revision = "classification 2"
    sides = tuple(look.side for look in LOOKS)
    networks = (LITE2,)
    dims = DIMS
    row_seconds = 0.053

    def extract(
        self, image: Picture, digest: bytes, view: int, looks: Sequence[Look] = LOOKS
    ) -> Halves:
        """Return the features of one view, float16, shape (1280,). Values are from 0 to 6.

        Args:
            image: decoded image; may be downscaled to `least_side` pixels on its shorter side.
            digest: digest of the image file, which determines the view.
            view: number of the view, from 0.
            looks: parts of the view whose features are averaged.
        """
        backbone, shown = self._backbones.get(LITE2), draw_augmentation(digest, view)
        squares = [squash(image.pixels, look.side, look.at(shown)) for look in looks]
        vectors = [backbone.run(square[None], ["embedding"])[0][0] for square in squares]
        halves: Halves = np.mean(vectors, axis=0).astype(np.float16)
        return halves
