"""Base class of extractors that scale images to squares and return one vector per view."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from chalicelib.engines.vision.backbone.resizing import RECIPE, VIEWS

if TYPE_CHECKING:
    from chalicelib.engines.vision.backbone.pool import BackbonePool


class SquareExtractor:
    """Base class of an `Extractor`; each subclass implements `extract`."""

    name: ClassVar[str]
    """Short name; part of the folder of the stored features."""
    revision: ClassVar[str]
    """Revision of the algorithm, to be changed whenever the same image gives other features."""
    sides: ClassVar[tuple[int, ...]]
    """Sides of the squares that the networks receive, in pixels."""
    networks: ClassVar[tuple[str, ...]]
    """Names of the backbones."""
    dims: ClassVar[int]
    """Length of a feature vector."""
    shard_rows: ClassVar[int] = 64
    row_seconds: ClassVar[float]
    """Approximate processor time to compute a vector, in seconds."""

    def __init__(self, backbones: BackbonePool) -> None:
        self._backbones = backbones

    @property
    def version(self) -> str:
        """Return 12 hex digits that change if the backbones, the sizes or the algorithm change.

        Raises:
            BackboneNotInstalled: a backbone's files are missing.
        """
        digests = [self._backbones.facts(name).sha256 for name in self.networks]
        text = "\n".join([self.revision, RECIPE, *map(str, self.sides), *digests])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return max(self.sides)

    @property
    def row_bytes(self) -> int:
        """Size of one vector of float16 features, in bytes."""
        return 2 * self.dims

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views that a training makes of an image of the given size."""
        del width, height
        return VIEWS if augment else 1
