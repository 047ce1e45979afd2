"""Converts images of any kind to upright RGB pixels, as viewers show them. Needs Pillow."""

from __future__ import annotations

import importlib
from typing import Any

# Pixels of at least this opacity, of 255, count as content when the background is chosen.
VISIBLE = 128
# Content with a higher mean luminance, of 255, is put on black: on white it could not be seen.
LIGHT = 191
# TIFF tags: the kind of a page, the bits of a value, and which values are white.
_SUBFILE, _BITS, _PHOTOMETRIC = 254, 258, 262
_REDUCED = 1  # bit of the kind: a smaller copy of another page
_WHITE_IS_ZERO = 0
# Modes of Pillow with one value per pixel that may exceed 255.
_DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")


def read_pages(image: Any) -> list[int]:
    """Return the page numbers of a TIFF, from 0; [0] for other formats.

    Reduced copies of pages are left out. Of an animation, only the first image is used.
    """
    if image.format != "TIFF":
        return [0]
    pages = []
    for number in range(image.n_frames):
        image.seek(number)
        if not image.tag_v2.get(_SUBFILE, 0) & _REDUCED:
            pages.append(number)
    return pages or [0]


def flatten(source: Any, page: int = 0) -> Any:
    """Return one page of an opened image as RGB: upright, opaque, with 8 bits per value.

    Args:
        source: an image as Pillow opens it.
        page: number of the page, from 0.
    """
    source.seek(page)
    image = _to_8_bits(source)
    image.format, image.info = source.format, source.info
    upright = importlib.import_module("PIL.ImageOps").exif_transpose(_make_square(image))
    if upright.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in upright.info:
        return _on_background(upright.convert("RGBA"))
    return upright.convert("RGB")


def _to_8_bits(source: Any) -> Any:
    """Return an image with values up to 255. Values of a TIFF are scaled by their actual range."""
    is_tiff = source.format == "TIFF"
    # A scanner of 12 bits stores 0 to 4095 in 16 bits, which would otherwise be all black.
    if source.mode in _DEEP:
        values = source.convert("F")
        low, high = values.getextrema() if is_tiff else (0, 65535)
        factor = 255 / (high - low or high or 1)
        scaled = values.point(lambda value: value * factor - (low * factor if high > low else 0))
        grey = scaled.convert("L")
        is_inverted = is_tiff and source.tag_v2.get(_PHOTOMETRIC) == _WHITE_IS_ZERO
        return importlib.import_module("PIL.ImageOps").invert(grey) if is_inverted else grey
    if is_tiff and source.mode == "RGB" and max(source.tag_v2.get(_BITS, (8,))) > 8:
        high = max(most for _, most in source.getextrema()) or 1
        return source.point([min(255, round(value * 255 / high)) for value in range(256)] * 3)
    return source.copy()


def _make_square(image: Any) -> Any:
    # The pixels of a fax can be twice as high as wide.
    across, down = image.info.get("dpi") or (1, 1)
    if not across or not down or max(across, down) < 1.05 * min(across, down):
        return image
    most = max(across, down)
    size = round(image.width * most / across), round(image.height * most / down)
    made = (image.convert("L") if image.mode == "1" else image).resize(size)
    made.info = image.info
    return made


def _on_background(image: Any) -> Any:
    """Put an RGBA image on a white background, or on black if its visible content is light."""
    pillow = importlib.import_module("PIL.Image")
    visible = image.getchannel("A").point(lambda alpha: 255 * (alpha >= VISIBLE))
    counts = image.convert("RGB").convert("L").histogram(visible)
    mean = sum(value * count for value, count in enumerate(counts)) / (sum(counts) or 1)
    background = pillow.new("RGBA", image.size, "black" if mean > LIGHT else "white")
    return pillow.alpha_composite(background, image).convert("RGB")
