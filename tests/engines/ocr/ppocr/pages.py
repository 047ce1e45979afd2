"""Pages drawn with Pillow, and the installed engine."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.documents.page import Page
from chalicelib.engines.ocr.ppocr.loading import load_ppocr

FOLDER = Path(__file__).parents[4] / ".models" / "ppocr"
TEXTS = (
    "Invoice 4711 of March 3, 2024",
    "Total amount due: $1,234.56",
    "Mail bob@example.com (net 30)",
)


@lru_cache(maxsize=1)
def the_engine():
    """Open the installed engine once."""
    return load_ppocr(FOLDER)


def go_on():
    """Never cancel."""


def drawn(items, size=(620, 300), ink=0, paper=255, font=26):
    """Draw texts at places; returns RGB pixels."""
    image = Image.new("RGB", size, (paper,) * 3)
    pen = ImageDraw.Draw(image)
    for x, y, text in items:
        pen.text((x, y), text, fill=(ink,) * 3, font=ImageFont.load_default(size=font))
    return np.asarray(image)


def a_page(ink=0, paper=255):
    """Draw TEXTS below each other."""
    rows = [(40, 40 + 70 * row, text) for row, text in enumerate(TEXTS)]
    return drawn(rows, ink=ink, paper=paper)


def paged(pixels, layer=None):
    """Return a page of pixels."""
    height, width = pixels.shape[:2]
    return Page(1, width, height, 1.0, pixels, layer)


def texts_of(lines):
    """Return the texts of lines."""
    return tuple(line.text for line in lines)
