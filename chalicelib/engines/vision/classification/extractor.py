"""One vector a view: the mean of the backbone's last map of the squashed picture.

See: chalicelib/engines/vision/interface.py, chalicelib/engines/vision/resizing.py
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.backbones import LITE2
from chalicelib.engines.vision.resizing import RECIPE, VIEWS, draw_view, squash

if TYPE_CHECKING:
    from chalicelib.domain.picture import Picture
    from chalicelib.engines.vision.backbones import BackbonePool
    from chalicelib.engines.vision.interface import Halves

SIDE = 320
"""Pixels of the square that the backbone sees."""
DIMS = 1280
"""Length of a vector."""
_SHARD_ROWS = 64
_REVISION = "classification 1"


class ClassificationExtractor:
    """The Extractor of the type image."""

    def __init__(self, backbones: BackbonePool) -> None:
        self._backbones = backbones

    @property
    def name(self) -> str:
        """Short name; part of the folder that keeps the features."""
        return "classification"

    @property
    def version(self) -> str:
        """12 hex digits of a digest over backbone, size and recipe.

        Raises:
            BackboneNotInstalled: the backbone's files are missing.
        """
        facts = self._backbones.facts(LITE2)
        text = f"{_REVISION}\n{RECIPE}\n{SIDE}\n{facts.sha256}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def least_side(self) -> int:
        """The decoder must keep at least this many pixels on the shorter side."""
        return SIDE

    @property
    def shard_rows(self) -> int:
        """How many rows of features are kept in one object."""
        return _SHARD_ROWS

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of float16 features."""
        return 2 * DIMS

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Say how many views of a picture of this size, in pixels, a training uses."""
        del width, height
        return VIEWS if augment else 1

    def extract(self, picture: Picture, digest: bytes, view: int) -> Halves:
        """Compute the features of one view.

        Args:
            picture: decoded with `least_side`.
            digest: of the picture file; the seed of the view.
            view: from 0.

        Returns:
            Means of the last map, at least 0 and at most 6, float16, shape (1280,).
        """
        pixels = squash(picture.pixels, SIDE, draw_view(digest, view))
        embedding = self._backbones.get(LITE2).run(pixels[None], ["embedding"])[0]
        halves: Halves = embedding[0].astype(np.float16)
        return halves
