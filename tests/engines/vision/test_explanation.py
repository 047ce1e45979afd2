"""The regions of an image that decide a prediction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from chalicelib.domain.documents.picture import Picture
from chalicelib.domain.models.explanation import MAX_VARIANTS
from chalicelib.domain.models.prediction import Probability, ranked
from chalicelib.engines.vision.explanation import explain


def _looks_at(rows: slice, columns: slice) -> Any:
    """Return a model whose probability of `bright` is the mean of one region."""

    def predict(image: Picture) -> tuple[Probability, ...]:
        share = 0.05 + 0.9 * float(image.pixels[rows, columns].mean()) / 255
        return ranked(("bright", "dark"), (share, 1 - share))

    return SimpleNamespace(predict=predict)


def test_region_that_decides_has_the_share() -> None:
    """The one bright cell has all influence; its box is in pixels of the image."""
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[10:20, 70:80] = 255
    found = explain(_looks_at(slice(10, 20), slice(70, 80)), Picture(pixels, 160, 80), "bright")

    assert len(found) == 8 * 4
    best = max(found, key=lambda region: region.share)
    assert best.share == 1
    assert (best.box.min_x, best.box.min_y, best.box.max_x, best.box.max_y) == (140, 20, 160, 40)


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 5_000), (640, 480), (3, 2)])
def test_grid_covers_any_picture(width: int, height: int) -> None:
    """The grid covers any image with at most as many cells as variants, none of them empty."""
    pixels = np.full((min(height, 40), min(width, 40), 3), 7, np.uint8)
    found = explain(_looks_at(slice(None), slice(None)), Picture(pixels, width, height), "bright")

    areas = [(r.box.max_x - r.box.min_x) * (r.box.max_y - r.box.min_y) for r in found]
    assert len(found) <= MAX_VARIANTS
    assert min(areas) > 0
    assert sum(areas) == width * height
    assert {region.share for region in found} == {0}
