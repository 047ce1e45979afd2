"""A picture as a document of one page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.domain.documents.page import Page
from chalicelib.formats.pdf.geometry import MAX_RASTER_PIXELS
from chalicelib.formats.pictures.reading import picture_facts, read_picture

if TYPE_CHECKING:
    from typing import Self

    from chalicelib.domain.documents.page import Pixels

_STRIP_ROWS = 256
_MARGIN_ROWS = 8
"""Rows around a strip that its outermost pixels are mixed from, and a few more."""


class PictureDocument:
    """A PNG or JPEG."""

    is_picture = True
    page_count = 1

    def __init__(self, data: bytes) -> None:
        """Decode a picture.

        Raises:
            BadRequest: it is broken, truncated, over 50,000,000 pixels or too narrow.
        """
        self._page: Page | None = _read(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the pixels go."""
        self._page = None

    def page(self, number: int, needs_pixels: bool) -> Page:
        """Return the picture, which has pixels whether they are needed or not.

        Raises:
            IndexError: there is no such page, or the document is closed.
        """
        del needs_pixels
        if number != 1 or self._page is None:
            raise IndexError(f"page {number} of a picture")
        return self._page


def _read(data: bytes) -> Page:
    """Decode a picture as displayed, reduced to what a raster may have.

    Raises:
        BadRequest: it is broken, truncated, over 50,000,000 pixels or too narrow.
    """
    facts = picture_facts(data, MAX_OCR_BYTES)
    share = min(1.0, math.sqrt(MAX_RASTER_PIXELS / (facts.width * facts.height)))
    if share == 1:
        return _page(read_picture(data, MAX_OCR_BYTES).pixels, facts.width)
    size = max(1, int(facts.width * share)), max(1, int(facts.height * share))
    return _page(_reduced(read_picture(data, MAX_OCR_BYTES, min(size)).pixels, size), facts.width)


def _reduced(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Scale pixels down to width and height, unless the decoder has done that already.

    Done in strips: Pillow's own form of a large picture takes more memory than the picture.
    """
    import numpy as np
    from PIL import Image

    width, height = size
    if pixels.shape[1] <= width:
        return pixels
    factor = pixels.shape[0] / height
    found = np.empty((height, width, 3), np.uint8)
    for top in range(0, height, _STRIP_ROWS):
        bottom = min(top + _STRIP_ROWS, height)
        first = max(0, math.floor(top * factor) - _MARGIN_ROWS)
        strip = Image.fromarray(pixels[first : math.ceil(bottom * factor) + _MARGIN_ROWS])
        box = (0, top * factor - first, pixels.shape[1], bottom * factor - first)
        small = strip.resize((width, bottom - top), Image.Resampling.HAMMING, box)
        found[top:bottom] = np.asarray(small)
    return found


def _page(pixels: Pixels, width: int) -> Page:
    """Make the page; answers name pixels of a picture so wide."""
    return Page(1, pixels.shape[1], pixels.shape[0], width / pixels.shape[1], pixels)
