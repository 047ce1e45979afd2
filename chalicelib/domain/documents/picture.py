"""A decoded picture, and boxes on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels of a picture as displayed, possibly reduced in size."""

    pixels: Pixels
    """RGB, uint8, shape (height, width, 3); origin at the top left."""
    width: int
    """Width of the whole picture as displayed, in pixels; boxes refer to it."""
    height: int
    """Height of the whole picture as displayed, in pixels."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of the picture as displayed; the origin is its top left corner."""

    x: float
    """Distance of the left side from the left edge."""
    y: float
    """Distance of the top from the top edge."""
    width: float
    """Above 0."""
    height: float
    """Above 0."""

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.x, self.y, self.x + self.width, self.y + self.height


@dataclass(frozen=True, slots=True)
class PixelBox:
    """Whole pixels of the picture as displayed; the origin is its top left. Spec: BoundingBox."""

    min_x: int
    """Left side, from the left edge."""
    min_y: int
    """Top, from the top edge."""
    max_x: int
    """Right side, from the left edge."""
    max_y: int
    """Bottom, from the top edge."""
