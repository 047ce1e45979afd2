"""Computes the features of views of an image, with two frozen networks."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PIL import Image

from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.engines.vision.detection.views.maps import CELLS, CHANNELS, ROW_VALUES, SIDE
from chalicelib.engines.vision.detection.views.views import (
    AUGMENTED_VIEWS,
    TILE_STRIDE,
    TILED_SIDE,
    ImageView,
    augmented_view,
    tiled_views,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves, Pixels, Singles
    from chalicelib.domain.documents.picture import Picture

# The networks of the features.
BACKBONES = (LITE2, NANODET)
_TAPS = ("tap8", "tap16", "tap32")
_PANS = ("pan52", "pan26", "pan13")
# Factors that give each map a mean square near 1 on photographs, so that one learning rate is good
# for all maps, and float16 is enough. Without the factors, the maps differ by a factor of 80.
_TAP_SCALES = (0.125, 0.16, 0.4)
_PAN_SCALES = (11.0, 6.2, 4.8)
_LARGEST = 60_000.0
_GREY = 114
_REVISION = 1


class DetectionExtractor:
    """The `Extractor` of `object-detection`. To augment, it adds mirrored and random views."""

    name = "detection"
    shard_rows: ClassVar[int] = 8
    row_bytes: ClassVar[int] = 2 * ROW_VALUES
    row_seconds: ClassVar[float] = 0.11

    def __init__(self, backbones: BackbonePool) -> None:
        self._backbones = backbones

    @property
    def version(self) -> str:
        """Return 12 hex digits that change if anything that affects the features changes."""
        facts = {
            "revision": _REVISION,
            "backbones": [self._backbones.facts(name).sha256 for name in BACKBONES],
            "scales": [_TAP_SCALES, _PAN_SCALES],
            "tiles": [TILED_SIDE, TILE_STRIDE],
            "name": self.name,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return SIDE

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views that a training makes of an image of the given size."""
        return AUGMENTED_VIEWS if augment else 1

    def view(self, width: int, height: int, digest: bytes, number: int) -> ImageView:
        """Return the view `number` of an image."""
        return augmented_view(digest, number)

    def extract(self, image: Picture, digest: bytes, view: int) -> Halves:
        """Return the features of one view, float16, shape (ROW_VALUES,).

        Args:
            image: decoded image, whose shorter side may be reduced to `least_side` pixels.
            digest: digest of the image file, 16 bytes.
            view: number of the view, from 0 (the whole image).
        """
        shown = self.view(image.width, image.height, digest, view)
        return compute_row(self._backbones, render(image.pixels, shown))


class RetailExtractor(DetectionExtractor):
    """The `Extractor` of `retail-execution`. It adds overlapping tiles at a higher resolution."""

    name = "retail"

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return TILED_SIDE

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views that a training makes of an image of the given size."""
        return len(tiled_views(width, height))

    def view(self, width: int, height: int, digest: bytes, number: int) -> ImageView:
        """Return the view `number` of an image."""
        return tiled_views(width, height)[number]


def render(pixels: Pixels, view: ImageView) -> Pixels:
    """Draw a view as an image, RGB, uint8, shape (416, 416, 3).

    Args:
        pixels: pixels of the image, RGB, uint8, shape (height, width, 3), origin at the top left.
        view: the part of the image, and the position of this part in the view.
    """
    height, width = pixels.shape[:2]
    left, top, right, bottom = view.source
    target = view.target
    size = target[2] - target[0], target[3] - target[1]
    part = Image.fromarray(pixels).resize(
        size,
        Image.Resampling.BILINEAR,
        box=(left * width, top * height, min(right, 1.0) * width, min(bottom, 1.0) * height),
        reducing_gap=2.0,
    )
    canvas = np.full((SIDE, SIDE, 3), _GREY, np.uint8)
    canvas[target[1] : target[3], target[0] : target[2]] = _jittered(np.asarray(part), view)
    return np.ascontiguousarray(canvas[:, ::-1]) if view.is_mirrored else canvas


def compute_row(backbones: BackbonePool, pixels: Pixels) -> Halves:
    """Run both networks on a view; return its features, float16, shape (ROW_VALUES,).

    Args:
        backbones: the installed networks.
        pixels: pixels of the view, RGB, uint8, shape (416, 416, 3).
    """
    taps = backbones.get(LITE2).run(pixels[None], _TAPS)
    pans = backbones.get(NANODET).run(pixels[None], _PANS)
    row = np.empty(ROW_VALUES, np.float16)
    first = 0
    for level, (cells, width) in enumerate(zip(CELLS, CHANNELS, strict=True)):
        last = first + cells * cells * width
        level_map = row[first:last].reshape(cells, cells, width)
        channels = taps[level].shape[1]
        _write(level_map[..., :channels], taps[level][0], _TAP_SCALES[level])
        _write(level_map[..., channels:], pans[level][0], _PAN_SCALES[level])
        first = last
    return row


def _write(place: Halves, values: Singles, scale: float) -> None:
    np.clip(values * np.float32(scale), -_LARGEST, _LARGEST, out=values)
    place[...] = values.transpose(1, 2, 0)


def _jittered(pixels: Pixels, view: ImageView) -> Pixels:
    if view.brightness == 1.0 and view.contrast == 1.0:
        return pixels
    values = pixels.astype(np.float32) * view.brightness
    mean = float(values.mean())
    bright: Pixels = np.clip((values - mean) * view.contrast + mean, 0, 255).astype(np.uint8)
    return bright
