"""Decides whether the text layer of a PDF page is reliable, and returns it.

Runs in the child process that reads PDFs (child.py); imports only the standard library.
"""

from __future__ import annotations

import math
from typing import Any

from chalicelib.formats.pdf.geometry import PageView
from chalicelib.formats.pdf.glyphs import GlyphReader, Letters
from chalicelib.formats.pdf.objects import IMAGE, DrawnRules, Matrix, PageObjects, Sides
from chalicelib.formats.pdf.text_lines import Line, text_lines

# A page with fewer characters is read from its pixels.
MIN_CHARACTERS = 20
# Least fraction of characters that must be printable and known.
MIN_PRINTABLE = 0.95
# Greatest fraction of hidden characters: more are the text that another OCR put under a scan.
MAX_HIDDEN = 0.1
# Greatest fraction of the page under images: more is a scan.
MAX_IMAGE_SHARE = 0.5

# Cells per side of the grid on which the cover of images is counted.
_GRID = 64


def read_layer(pdfium: Any, page: Any, view: PageView) -> tuple[list[Line], list[Sides]] | None:
    """Return text lines and ruled lines of a page; None if its text is not reliable."""
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return None
    try:
        letters = GlyphReader(pdfium, text_page, view).read()
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    if letters is None or not is_sane(letters):
        return None
    # A page that is mostly image is a scan; its text is the output of another OCR.
    cover, rules = ImageCover(view), DrawnRules(pdfium, view)
    for kind, thing, matrix in PageObjects(pdfium).walk(page):
        if kind == IMAGE:
            cover.add(matrix)
        else:
            rules.add(thing, matrix)
    if cover.share >= MAX_IMAGE_SHARE:
        return None
    lines = text_lines([glyph for glyph in letters.glyphs if glyph.text.isprintable()])
    return lines, rules.rules()


def is_sane(letters: Letters) -> bool:
    """Return whether there are enough characters, and most of them are known and rendered."""
    glyphs = letters.glyphs
    if len(glyphs) < MIN_CHARACTERS or letters.hidden > MAX_HIDDEN * len(glyphs):
        return False
    if any("\ufffd" in glyph.text for glyph in glyphs):
        return False
    good = sum(glyph.known and glyph.text.isprintable() for glyph in glyphs)
    return good >= MIN_PRINTABLE * len(glyphs)


class ImageCover:
    """Measures which fraction of a page is under images, on a grid of cells."""

    def __init__(self, view: PageView) -> None:
        self._view = view
        self._rows = [0] * _GRID

    @property
    def share(self) -> float:
        """Return the fraction of the page under images, 0 to 1."""
        return sum(row.bit_count() for row in self._rows) / _GRID**2

    def add(self, matrix: Matrix) -> None:
        """Mark the cells under an image, which fills the unit square of its matrix."""
        a, b, c, d, e, f = matrix
        corners = [
            self._view.point(e + x * a + y * c, f + x * b + y * d) for x in (0, 1) for y in (0, 1)
        ]
        if not all(math.isfinite(value) for corner in corners for value in corner):
            return
        raster = self._view.raster
        across = _cells([x / raster.width for x, _ in corners])
        mask = sum(1 << cell for cell in across)
        for row in _cells([y / raster.height for _, y in corners]):
            self._rows[row] |= mask


def _cells(shares: list[float]) -> range:
    first = math.ceil(max(0.0, min(shares)) * _GRID - 0.5) if min(shares) < 1 else _GRID
    last = math.floor(min(1.0, max(shares)) * _GRID - 0.5) if max(shares) > 0 else -1
    return range(max(0, first), min(_GRID - 1, last) + 1)
