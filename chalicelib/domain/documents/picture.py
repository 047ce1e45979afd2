"""A decoded image, and boxes on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels


@dataclass(frozen=True, eq=False)
class Picture:
    """The pixels of an image as displayed, possibly scaled down."""

    pixels: Pixels
    """RGB, uint8, shape (height, width, 3); origin at the top left."""
    width: int
    """Width of the original image as displayed, in pixels. Boxes refer to this width."""
    height: int


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of the image as displayed, from the top left corner of the image."""

    x: float
    y: float
    width: float
    """Width of the box, above 0."""
    height: float
    """Height of the box, above 0."""

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom."""
        return self.x, self.y, self.x + self.width, self.y + self.height


@dataclass(frozen=True, slots=True)
class PixelBox:
    """A box in whole pixels from the top left of the displayed image. Spec: BoundingBox."""

    min_x: int
    min_y: int
    max_x: int
    max_y: int
