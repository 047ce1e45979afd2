"""Defines views, which show parts of an image, and converts boxes between view and image.

A view depends only on the image's digest, its size and the view's number. Boxes are left, top,
right, bottom in pixels, float64, shape (boxes, 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.views.maps import SIDE

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles

# The image, its mirror image and two random views.
AUGMENTED_VIEWS = 4
# Longer side of an image before it is cut into tiles, in pixels.
TILED_SIDE = 1250
# Longest distance between two tiles, in pixels of the scaled image.
TILE_STRIDE = 333
_CROP = (0.5, 1.0)
_EXPANSION = (1.0, 1.6)
_JITTER = (0.7, 1.3)


@dataclass(frozen=True)
class ImageView:
    """A square of 416 x 416 pixels that shows a part of an image on a grey background."""

    source: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    """Left, top, right, bottom of the part, as fractions of the image's width and height."""
    target: tuple[int, int, int, int] = (0, 0, SIDE, SIDE)
    """Left, top, right, bottom of the area in which the part is shown, in pixels of the view."""
    is_mirrored: bool = False
    """Whether the whole view is mirrored, left to right."""
    brightness: float = 1.0
    """Factor by which all pixel values are multiplied."""
    contrast: float = 1.0
    """Factor for the distance of each pixel value from the mean grey."""

    def to_view(self, boxes: Doubles, width: int, height: int) -> Doubles:
        """Convert boxes from pixels of the image to pixels of the view, without clipping.

        Args:
            boxes: boxes in pixels of the image.
            width: width of the image as displayed, in pixels.
            height: height of the image as displayed, in pixels.
        """
        scale, offset = self._scale_and_offset(width, height)
        moved = boxes * scale + offset
        return _mirrored(moved) if self.is_mirrored else moved

    def mirrored(self) -> ImageView:
        """Return the mirror image of this view."""
        return replace(self, is_mirrored=not self.is_mirrored)

    def to_picture(self, boxes: Doubles, width: int, height: int) -> Doubles:
        """Convert boxes from pixels of the view to pixels of the image."""
        scale, offset = self._scale_and_offset(width, height)
        straight = _mirrored(boxes) if self.is_mirrored else boxes
        return (straight - offset) / scale

    def _scale_and_offset(self, width: int, height: int) -> tuple[Doubles, Doubles]:
        source, target = self.source, self.target
        scale_x = (target[2] - target[0]) / ((source[2] - source[0]) * width)
        scale_y = (target[3] - target[1]) / ((source[3] - source[1]) * height)
        offset_x = target[0] - source[0] * width * scale_x
        offset_y = target[1] - source[1] * height * scale_y
        scale = np.array([scale_x, scale_y, scale_x, scale_y])
        return scale, np.array([offset_x, offset_y, offset_x, offset_y])


def augmented_view(digest: bytes, number: int) -> ImageView:
    """Return a view for training: the image, its mirror image, or a random view.

    Args:
        digest: digest of the image file, 16 bytes.
        number: 0 is the image, 1 its mirror image, all others are random views: enlarged parts of
            the image, or the image reduced in size.
    """
    if number < 2:
        return ImageView(is_mirrored=number == 1)
    # From the digest, so that all workers compute the same views.
    seed = [int.from_bytes(digest[:8], "big"), number]
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    source, target = ImageView().source, ImageView().target
    if generator.random() < 0.5:
        source = _random_crop(generator)
    else:
        target = _random_place(generator)
    return ImageView(
        source,
        target,
        is_mirrored=bool(generator.random() < 0.5),
        brightness=float(generator.uniform(*_JITTER)),
        contrast=float(generator.uniform(*_JITTER)),
    )


def tiled_views(width: int, height: int) -> list[ImageView]:
    """Return a view of the whole image, then up to 16 views of overlapping tiles.

    The image is scaled to 1,250 pixels on its longer side. Tiles are square parts of it.
    """
    scale = TILED_SIDE / max(width, height)
    columns = _tile_spans(width * scale)
    rows = _tile_spans(height * scale)
    tiles = [
        ImageView((left, top, right, bottom), (0, 0, across, down))
        for top, bottom, down in rows
        for left, right, across in columns
    ]
    return [ImageView(), *tiles]


def _tile_spans(length: float) -> list[tuple[float, float, int]]:
    if length <= SIDE:
        return [(0.0, 1.0, max(1, round(length)))]
    count = math.ceil((length - SIDE) / TILE_STRIDE) + 1
    step = (length - SIDE) / (count - 1)
    starts = [step * place for place in range(count)]
    return [(start / length, (start + SIDE) / length, SIDE) for start in starts]


def _random_crop(generator: np.random.Generator) -> tuple[float, float, float, float]:
    share = generator.uniform(*_CROP)
    left, top = generator.uniform(0.0, 1.0 - share, 2)
    return float(left), float(top), float(left + share), float(top + share)


def _random_place(generator: np.random.Generator) -> tuple[int, int, int, int]:
    side = round(SIDE / generator.uniform(*_EXPANSION))
    left, top = (int(place) for place in generator.integers(0, SIDE - side + 1, 2))
    return left, top, left + side, top + side


def _mirrored(boxes: Doubles) -> Doubles:
    return np.stack([SIDE - boxes[:, 2], boxes[:, 1], SIDE - boxes[:, 0], boxes[:, 3]], axis=1)
