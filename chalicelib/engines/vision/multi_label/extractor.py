"""Computes one vector per view with two networks. The vector also represents small objects.

The mean over a feature map hides objects that fill only a few cells. So the vector also contains
the mean of the three largest values of each channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.backbone.pool import LITE2, NANODET
from chalicelib.engines.vision.backbone.resizing import draw_augmentation, squash
from chalicelib.engines.vision.backbone.square_extractor import SquareExtractor

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves, Singles
    from chalicelib.domain.documents.picture import Picture

# Side of the square input of Lite2, in pixels.
LITE2_SIDE = 384
# Side of the square input of NanoDet, in pixels.
NANODET_SIDE = 416
# Length of the first part, the mean of Lite2's last map.
EMBEDDING_DIMS = 1280
# Length of the second part: two numbers for every channel of five maps.
POOLED_DIMS = 2 * (120 + 352 + 3 * 128)
# Length of a vector.
DIMS = EMBEDDING_DIMS + POOLED_DIMS
BACKBONES = (LITE2, NANODET)
LITE2_OUTPUTS = ("embedding", "tap16", "tap32")
NANODET_OUTPUTS = ("pan52", "pan26", "pan13")
LARGEST_CELLS = 3
MOST = 60_000.0


class MultiLabelExtractor(SquareExtractor):
    """The `Extractor` of the type image-multi-label."""

    name = "multi-label"
    revision = "multi-label 1"
    sides = (LITE2_SIDE, NANODET_SIDE)
    networks = BACKBONES
    dims = DIMS
    row_seconds = 0.11

    def extract(self, image: Picture, digest: bytes, view: int) -> Halves:
        """Return the features of one view, float16, shape (2992,): embedding, then pooled maps.

        Args:
            image: decoded image, whose shorter side may be reduced to `least_side` pixels.
            digest: digest of the image file, which determines the view.
            view: number of the view, from 0.
        """
        shown = draw_augmentation(digest, view)
        lite2 = squash(image.pixels, LITE2_SIDE, shown)
        nanodet = squash(image.pixels, NANODET_SIDE, shown)
        embedding, *maps = self._backbones.get(LITE2).run(lite2[None], LITE2_OUTPUTS)
        maps += self._backbones.get(NANODET).run(nanodet[None], NANODET_OUTPUTS)
        vector = np.concatenate([embedding[0], *(_pooled(values[0]) for values in maps)])
        return _halves(vector)

    def embedding(self, image: Picture) -> Halves:
        """Return the embedding of the whole image (view 0), float16, shape (1280,)."""
        lite2 = squash(image.pixels, LITE2_SIDE)
        return _halves(self._backbones.get(LITE2).run(lite2[None], ["embedding"])[0][0])


def _halves(vector: Singles) -> Halves:
    halves: Halves = np.clip(vector, -MOST, MOST).astype(np.float16)
    return halves


def _pooled(values: Singles) -> Singles:
    cells = values.reshape(len(values), -1)
    largest = np.partition(cells, cells.shape[1] - LARGEST_CELLS, axis=1)[:, -LARGEST_CELLS:]
    # Sorted, because a partition may leave them in any order and sums depend on it.
    largest.sort(axis=1)
    return np.concatenate([cells.mean(axis=1), largest.mean(axis=1)])
