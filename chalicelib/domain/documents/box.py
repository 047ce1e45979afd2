"""Boxes around objects. Spec: BoundingBox; contract section 5, Upload formats."""

from __future__ import annotations

from dataclasses import dataclass


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
