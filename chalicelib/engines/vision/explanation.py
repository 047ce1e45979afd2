"""Explains a prediction: covers each region of the image, to measure the region's contribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.picture import Picture, PixelBox
from chalicelib.domain.models.explanation import MAX_VARIANTS, ExplainedRegion, part_shares
from chalicelib.domain.models.prediction import Probability

if TYPE_CHECKING:
    from chalicelib.engines.vision.interface import TrainedVision


def explain(trained: TrainedVision, image: Picture, label: str) -> list[ExplainedRegion]:
    """Return, row by row, how much each region of an image contributes to a label's prediction.

    Args:
        trained: a model of type image or image-multi-label.
        image: decoded image, whose shorter side may be reduced to the model's `least_side`.
        label: one of the model's labels.
    """
    boxes = list(_cells(image))
    whole = _probability(trained, image, label)
    variants = [_probability(trained, _covered(image, box), label) for box in boxes]
    shares = part_shares(whole, variants)
    return [ExplainedRegion(box, share) for box, share in zip(boxes, shares, strict=True)]


def _cells(image: Picture) -> Iterator[PixelBox]:
    most = math.isqrt(MAX_VARIANTS)
    longest = max(image.width, image.height)
    columns = max(1, min(image.width, round(most * image.width / longest)))
    rows = max(1, min(image.height, round(most * image.height / longest)))
    for row in range(rows):
        top, bottom = (image.height * edge // rows for edge in (row, row + 1))
        for column in range(columns):
            left, right = (image.width * edge // columns for edge in (column, column + 1))
            yield PixelBox(left, top, right, bottom)


def _covered(image: Picture, box: PixelBox) -> Picture:
    pixels = image.pixels.copy()
    height, width = pixels.shape[:2]
    rows = slice(box.min_y * height // image.height, -(-box.max_y * height // image.height))
    columns = slice(box.min_x * width // image.width, -(-box.max_x * width // image.width))
    # The mean colour adds no edge or object of its own.
    pixels[rows, columns] = np.round(image.pixels.mean(axis=(0, 1))).astype(np.uint8)
    return Picture(pixels, image.width, image.height)


def _probability(trained: TrainedVision, image: Picture, label: str) -> float:
    answers = (one for one in trained.predict(image) if isinstance(one, Probability))
    return next((one.probability for one in answers if one.label == label), 0.0)
