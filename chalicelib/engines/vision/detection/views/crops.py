"""Crops boxes out of an image, and computes features of the crops with EfficientNet-Lite2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.engines.vision.backbone.pool import LITE2, BackbonePool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Pixels, Singles
    from chalicelib.domain.documents.picture import Picture

# Width and height of a crop in the network's input, in pixels.
CROP_SIDE = 256
# Border shown around a box, as a fraction of its width and height on each side.
BORDER = 0.06
# Pixels that the shorter side of an image keeps, so that small boxes stay sharp.
LEAST_SIDE = 1024
# Features of a crop.
CROP_VALUES = 1280


def describe_crops(backbones: BackbonePool, image: Picture, boxes: Doubles) -> Singles:
    """Return a unit feature vector of each box's crop, float32, shape (boxes, 1280).

    Args:
        backbones: the installed networks.
        image: decoded image, whose shorter side may be reduced to `LEAST_SIDE` pixels.
        boxes: left, top, right, bottom in pixels of the image as displayed, shape (boxes, 4).
    """
    rows = np.empty((len(boxes), CROP_VALUES), np.float32)
    for index, box in enumerate(boxes):
        pixels = _crop(image, [float(side) for side in box])
        (embedding,) = backbones.get(LITE2).run(pixels[None], ["embedding"])
        # The square root dampens the few channels that would dominate the distances.
        row = np.sign(embedding[0]) * np.sqrt(np.abs(embedding[0]))
        rows[index] = row / max(float(np.sqrt(np.add.reduce(row * row))), 1e-12)
    return rows


def _crop(image: Picture, box: Sequence[float]) -> Pixels:
    height, width = image.pixels.shape[:2]
    across, down = width / image.width, height / image.height
    border_x, border_y = BORDER * (box[2] - box[0]), BORDER * (box[3] - box[1])
    left, right = _span((box[0] - border_x) * across, (box[2] + border_x) * across, width)
    top, bottom = _span((box[1] - border_y) * down, (box[3] + border_y) * down, height)
    part = Image.fromarray(image.pixels[top:bottom, left:right])
    return np.asarray(part.resize((CROP_SIDE, CROP_SIDE), Image.Resampling.BILINEAR))


def _span(low: float, high: float, length: int) -> tuple[int, int]:
    first = min(max(0, int(np.floor(low))), length - 1)
    return first, max(first + 1, min(length, int(np.ceil(high))))
