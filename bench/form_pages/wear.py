"""Wear of generated pages: print of half the size, a photograph, a fax, a poor copy."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageFilter

Wear = Callable[[Image.Image, np.random.Generator], Image.Image]


def scaled(image: Image.Image, width: int) -> Image.Image:
    """Scale an image to a width; 850 pixels are a letter page at 100 dots an inch."""
    size = (width, round(image.height * width / image.width))
    is_small = 2 * width < image.width
    return image.resize(size, Image.Resampling.BOX if is_small else Image.Resampling.BILINEAR)


def noisy(image: Image.Image, chance: np.random.Generator, deviation: float) -> Image.Image:
    """Return an image with noise."""
    pixels = np.asarray(image, dtype=np.float64)
    pixels += chance.normal(0, deviation, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _photographed(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    angle = chance.uniform(-1.5, 1.5)
    turned = scaled(image, 900).rotate(angle, fillcolor=255, resample=Image.Resampling.BILINEAR)
    return noisy(turned.filter(ImageFilter.GaussianBlur(0.6)), chance, 18)


def _faxed(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    return noisy(scaled(image, 850), chance, 30).point(lambda value: 255 * (value > 150))


def _copied(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    stream = io.BytesIO()
    softened = scaled(image, 720).filter(ImageFilter.GaussianBlur(0.7))
    noisy(softened, chance, 10).save(stream, "JPEG", quality=40)
    return Image.open(stream).convert("L")


WEARS: Mapping[str, Wear] = {
    "as drawn": lambda image, _: image,
    "small": lambda image, _: scaled(image, 760),
    "photographed": _photographed,
    "faxed": _faxed,
    "poor copy": _copied,
}
