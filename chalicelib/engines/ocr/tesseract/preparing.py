"""Prepares a page for Tesseract: greyscale, even brightness, large enough, with a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageFilter, ImageOps

from chalicelib.domain.documents.page import Rect

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# Maximum number of pixels of a prepared page; larger pages are scaled down.
MOST_PIXELS = 12_000_000
# Maximum longer side of a prepared page, in pixels.
_MOST_SIDE = 10_000
# Pages whose longer side is shorter than this are scaled up, in pixels.
_ENOUGH = 2000
_MOST_SCALE = 3.0
_NOT_WORTH = 1.1
# White margin on all sides, in pixels.
MARGIN = 16
_CELL = 16  # side of a square that counts as evenly lit, in pixels
_NEIGHBOURS = 5  # side of a square of cells of which at least one shows paper
_WHITE = 255
# Brightness below which a pixel of an evenly lit page is ink.
_DARK = 160
# Minimum number of ink pixels on a page with text.
_LEAST_INK = 8


@dataclass(frozen=True, eq=False)
class Prepared:
    """A page image prepared for the program."""

    image: Image.Image
    """Greyscale image."""
    scale: float
    """Number of pixels of the image for one pixel of the page, along a side."""

    def on_page(self, box: Rect, width: int, height: int) -> Rect:
        """Convert a rectangle of the prepared image to pixels of the page, clipped to the page.

        Args:
            box: rectangle of the prepared image.
            width: width of the page, in pixels.
            height: height of the page, in pixels.
        """
        left, top, right, bottom = (
            (side - MARGIN) / self.scale for side in (box.min_x, box.min_y, box.max_x, box.max_y)
        )
        return Rect(
            min(max(0.0, left), width),
            min(max(0.0, top), height),
            min(max(0.0, right), width),
            min(max(0.0, bottom), height),
        )


def prepare(pixels: Pixels) -> Prepared:
    """Prepare the pixels of a page, RGB, uint8, shape (height, width, 3), for the program."""
    image = Image.fromarray(np.ascontiguousarray(pixels)).convert("L")
    scale = _scale(image.width, image.height)
    if scale < 1:
        image = image.resize(_size(image, scale), Image.Resampling.BOX)
    image = evenly_lit(image)
    if scale > 1:
        image = image.resize(_size(image, scale), Image.Resampling.BICUBIC)
    return Prepared(ImageOps.expand(image, MARGIN, _WHITE), scale)


def _scale(width: int, height: int) -> float:
    longest = max(width, height)
    down = min(1.0, math.sqrt(MOST_PIXELS / (width * height)), _MOST_SIDE / longest)
    if down < 1:
        return down
    up = min(_MOST_SCALE, _ENOUGH / longest)
    return up if up >= _NOT_WORTH else 1.0


def _size(image: Image.Image, scale: float) -> tuple[int, int]:
    return max(1, round(image.width * scale)), max(1, round(image.height * scale))


def evenly_lit(image: Image.Image) -> Image.Image:
    """Divide a grey page by the brightness of its paper, which removes shadows."""
    cells = max(1, image.width // _CELL), max(1, image.height // _CELL)
    paper = image.resize(cells, Image.Resampling.BOX).filter(ImageFilter.MaxFilter(_NEIGHBOURS))
    paper = paper.resize(image.size, Image.Resampling.BILINEAR)
    light = np.maximum(np.asarray(paper, np.float32), 1)
    even = np.asarray(image, np.float32) * _WHITE / light
    return Image.fromarray(np.minimum(even, _WHITE).astype(np.uint8))


def has_ink(image: Image.Image) -> bool:
    """Return whether an evenly lit page has any ink."""
    return sum(image.histogram()[:_DARK]) >= _LEAST_INK
