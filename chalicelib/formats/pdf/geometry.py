"""Converts PDF coordinates (points from the bottom left) to pixels of the page as displayed.

Imports only the standard library, because the child process that reads PDFs must start fast.

Example: raster_of(595, 842) -> Raster(width=1653, height=2339, per_point=2.78)
"""

from __future__ import annotations

import math
from typing import NamedTuple

# Answers use pixels of the page at 200 dpi. See contract section 6.
PIXELS_PER_POINT = 200 / 72
# Limit of width times height of a page's raster: 36 MB of RGB.
MAX_RASTER_PIXELS = 12_000_000
# Limit of the raster's longer side in pixels.
MAX_RASTER_SIDE = 10_000
# Limit of a page's side in points: 3.5 km.
MAX_PAGE_POINTS = 1e7


class Raster(NamedTuple):
    """The size of the pixel raster of a page."""

    width: int
    """Width in pixels, at least 1."""
    height: int
    """Height in pixels, at least 1."""
    per_point: float
    """Number of pixels per point (1/72 inch)."""

    @property
    def scale(self) -> float:
        """Return the factor that converts raster pixels to pixels of the API (200 dpi)."""
        return PIXELS_PER_POINT / self.per_point


def raster_of(width: float, height: float) -> Raster:
    """Return the raster of a page. It has 200 dpi, or less if the page is too large for 200 dpi.

    Args:
        width: Width of the page as displayed, in points.
        height: Height of the page as displayed, in points.

    Raises:
        ValueError: `width` or `height` is not above 0, is too large, or is not a number.
    """
    if not (0 < width <= MAX_PAGE_POINTS and 0 < height <= MAX_PAGE_POINTS):
        raise ValueError(f"the page is {width:g} x {height:g} points large")
    per_point = min(
        PIXELS_PER_POINT,
        MAX_RASTER_SIDE / max(width, height),
        math.sqrt(MAX_RASTER_PIXELS / (width * height)),
    )
    across, down = max(1, round(width * per_point)), max(1, round(height * per_point))
    if across * down > MAX_RASTER_PIXELS:
        # Rounding up both sides can exceed the limit by a row.
        down = max(1, MAX_RASTER_PIXELS // across)
    return Raster(across, down, per_point)


class PageView(NamedTuple):
    """The properties with which a page is displayed: crop box, rotation and raster."""

    left: float
    """Left side of the crop box, in points of the unrotated page."""
    bottom: float
    right: float
    """Right side of the crop box, in points of the unrotated page."""
    top: float
    turns: int
    """Number of clockwise quarter turns, 0 to 3."""
    raster: Raster
    """The raster on which the page is displayed."""

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Convert a point of the unrotated page to pixels of the page as displayed."""
        across, down = (
            (x - self.left, self.top - y),
            (y - self.bottom, x - self.left),
            (self.right - x, y - self.bottom),
            (self.top - y, self.right - x),
        )[self.turns]
        return across * self.raster.per_point, down * self.raster.per_point

    def direction(self, x: float, y: float) -> tuple[float, float]:
        """Rotate a vector from the unrotated page to the displayed page. Keep its length."""
        return ((x, -y), (y, x), (-x, y), (-y, -x))[self.turns]
