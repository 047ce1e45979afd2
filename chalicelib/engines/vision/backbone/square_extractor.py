"""Base class of extractors that scale images to squares and return one vector per view."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from chalicelib.engines.vision.backbone.resizing import RECIPE, VIEWS

if TYPE_CHECKING:
    from chalicelib.engines.vision.backbone.pool import BackbonePool


class SquareExtractor:
    """Base class of an Extractor; subclasses compute the vector."""

    name: ClassVar[str]
    """Short name; part of the folder of the stored features."""
    revision: ClassVar[str]
    """Raised when the same image gives other numbers."""
    sides: ClassVar[tuple[int, ...]]
    """Pixels of the squares that the networks see."""
    networks: ClassVar[tuple[str, ...]]
    """Names of the backbones."""
    dims: ClassVar[int]
    """Length of a vector."""
    shard_rows: ClassVar[int] = 64
    row_seconds: ClassVar[float]
    """Approximate processor time of a vector, in seconds."""

    def __init__(self, backbones: BackbonePool) -> None:
        self._backbones = backbones

    @property
    def version(self) -> str:
        """Return 12 hex digits of a digest over backbones, sizes and algorithm.

        Raises:
            BackboneNotInstalled: a backbone's files are missing.
        """
        digests = [self._backbones.facts(name).sha256 for name in self.networks]
        text = "\n".join([self.revision, RECIPE, *map(str, self.sides), *digests])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def least_side(self) -> int:
        """Return the minimum length of the shorter side of a decoded image, in pixels."""
        return max(self.sides)

    @property
    def row_bytes(self) -> int:
        """Return the bytes of one row of float16 features."""
        return 2 * self.dims

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views that a training uses of an image of this size, in pixels."""
        del width, height
        return VIEWS if augment else 1
