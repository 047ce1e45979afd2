"""Crops text lines out of a page, rotates them upright and scales them to the network's height."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import Quad

    Box = tuple[float, float, float, float]

# Height of a crop, in pixels.
HEIGHT = 48
# Maximum factor by which an area is enlarged. Text lower than HEIGHT / 8 pixels is unreadable, and
# the limit keeps the work in proportion to the page.
MOST_GROWTH = 8
# Maximum width of a crop; longer areas are compressed, as they contain no text.
MOST_WIDTH = 48_000
# Maximum slope of a side, as a fraction of the height, at which an area is not rotated.
_UPRIGHT = 0.08
# A rotated line is cropped at its own height up to this limit in pixels, then scaled.
_FINEST = 144


def crop_width(quad: Quad) -> int:
    """Return the width, in pixels, of the crop of an area."""
    length, breadth = _sides(quad)
    growth = min(MOST_GROWTH, HEIGHT / max(breadth, 1.0))
    return min(MOST_WIDTH, max(1, math.ceil(length * growth)))


def cut_crop(image: Image.Image, quad: Quad) -> Image.Image:
    """Crop an area of a page and rotate it upright.

    Args:
        image: RGB.
        quad: corners in reading direction; they may be outside the image.

    Returns:
        The crop, RGB, HEIGHT pixels high and `crop_width` wide.
    """
    size = crop_width(quad), HEIGHT
    box = _upright_box(quad, image)
    if box is not None:
        return image.resize(size, Image.Resampling.BILINEAR, box)
    length, breadth = _sides(quad)
    height = int(min(max(breadth, HEIGHT), _FINEST))
    growth = min(MOST_GROWTH, height / max(breadth, 1.0))
    width = min(MOST_WIDTH, max(1, round(length * growth)))
    turned = _turned(image, quad, (width, height))
    return turned if turned.size == size else turned.resize(size, Image.Resampling.BILINEAR)


def _sides(quad: Quad) -> tuple[float, float]:
    top_left, top_right, bottom_right, bottom_left = quad
    length = max(math.dist(top_left, top_right), math.dist(bottom_left, bottom_right))
    return length, max(math.dist(top_left, bottom_left), math.dist(top_right, bottom_right))


def _upright_box(quad: Quad, image: Image.Image) -> Box | None:
    """Return left, top, right and bottom, clipped to the image; None for a rotated area."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    slack = _UPRIGHT * abs(dy - ay)
    if max(abs(ay - by), abs(dy - cy), abs(ax - dx), abs(bx - cx)) > max(slack, 0.5):
        return None
    left, right = max(0.0, (ax + dx) / 2), min(float(image.width), (bx + cx) / 2)
    top, bottom = max(0.0, (ay + by) / 2), min(float(image.height), (dy + cy) / 2)
    return (left, top, right, bottom) if right - left >= 1 and bottom - top >= 1 else None


def _turned(image: Image.Image, quad: Quad, size: tuple[int, int]) -> Image.Image:
    """Rotate an area upright; points outside the image get the colour of the top left corner."""
    top_left, top_right, bottom_right, bottom_left = quad
    x = min(max(0, int(top_left[0])), image.width - 1)
    y = min(max(0, int(top_left[1])), image.height - 1)
    return image.transform(
        size,
        Image.Transform.QUAD,
        (*top_left, *bottom_left, *bottom_right, *top_right),
        Image.Resampling.BICUBIC,
        fillcolor=image.getpixel((x, y)),
    )
