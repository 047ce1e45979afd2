"""Scales an image, or an augmented view of it, to the input size of a backbone."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

    Crop = tuple[float, float, float, float]

# Views of an augmented image: itself and three others.
VIEWS = 4
# Describes this module's processing; part of the extractors' versions, so that a change invalidates
# stored features.
RECIPE = "squash bicubic gap 2; 4 views, crop .5-1 of the area, light .7-1.3, flip"
_LEAST_AREA = 0.5
_LEAST_LIGHT, _MOST_LIGHT = 0.7, 1.3
_REDUCING_GAP = 2.0
_LEVELS = 256
_WORD = 8
_DRAWS = 6


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How a view of an image is made: the part to show, mirroring, brightness and contrast."""

    crop: Crop = (0.0, 0.0, 1.0, 1.0)
    """Left, top, right and bottom of the shown part, as fractions of the image's sides."""
    is_flipped: bool = False
    """Whether left and right are exchanged."""
    brightness: float = 1.0
    """Factor by which every pixel value is multiplied."""
    contrast: float = 1.0
    """Factor for the distance of each pixel value from middle grey; applied after brightness."""


def draw_augmentation(digest: bytes, number: int) -> Augmentation:
    """Draw a random view of an image.

    The result depends only on the digest of the image and the number of the view.

    Args:
        digest: digest of the image file.
        number: number of the view, from 0; view 0 is the unchanged image.
    """
    if number == 0:
        return Augmentation()
    digest = blake2b(digest, digest_size=_DRAWS * _WORD, salt=number.to_bytes(4, "big")).digest()
    words = np.frombuffer(digest, ">u8") >> np.uint64(11)
    draws = [float(word) / 2.0**53 for word in words]
    side = (_LEAST_AREA + (1.0 - _LEAST_AREA) * draws[0]) ** 0.5
    left, top = draws[1] * (1.0 - side), draws[2] * (1.0 - side)
    reach = _MOST_LIGHT - _LEAST_LIGHT
    return Augmentation(
        crop=(left, top, left + side, top + side),
        is_flipped=draws[3] < 0.5,
        brightness=_LEAST_LIGHT + reach * draws[4],
        contrast=_LEAST_LIGHT + reach * draws[5],
    )


def squash(pixels: Pixels, side: int, view: Augmentation | None = None) -> Pixels:
    """Scale an image, or a view of it, to a square. This changes proportions, but cuts nothing off.

    Args:
        pixels: RGB, uint8, shape (height, width, 3); origin at the top left.
        side: side of the square, in pixels.
        view: the part to show and its changes; None: the unchanged image.
    """
    view = view or Augmentation()
    height, width = pixels.shape[:2]
    left, top, right, bottom = view.crop
    box = (left * width, top * height, right * width, bottom * height)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    small = image.resize((side, side), _filter(), box, _REDUCING_GAP)
    if view.is_flipped:
        small = small.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if view.brightness != 1.0 or view.contrast != 1.0:
        small = small.point(_light_table(view) * 3)
    return np.asarray(small)


def _filter() -> Any:
    # Pillow's bicubic filter uses all pixels when it reduces an image.
    return Image.Resampling.BICUBIC


def _light_table(view: Augmentation) -> list[int]:
    values = np.arange(_LEVELS) * view.brightness
    values = (values - _LEVELS / 2) * view.contrast + _LEVELS / 2
    table: list[int] = np.clip(np.rint(values), 0, _LEVELS - 1).astype(int).tolist()
    return table
