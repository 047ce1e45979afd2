"""Whether a PDF page's own text can be trusted, and that text.

Runs in the child process that reads PDFs (pdf_child.py); imports the standard library alone.
"""

from __future__ import annotations

import math
from typing import Any

from chalicelib.formats.pdf.geometry import PageView
from chalicelib.formats.pdf.glyphs import GlyphReader, Letters
from chalicelib.formats.pdf.objects import IMAGE, DrawnRules, Matrix, PageObjects, Sides
from chalicelib.formats.pdf.text_lines import Line, text_lines

MIN_CHARACTERS = 20
"""A page of fewer is read from its picture."""
MIN_PRINTABLE = 0.95
"""Share of characters that must be printable and known."""
MAX_HIDDEN = 0.1
"""Share of characters that may be there without being drawn: more is a scan's hidden text."""
MAX_IMAGE_SHARE = 0.5
"""Share of the page that images may cover: more is a scan."""

_GRID = 64
"""Cells of the page in either direction in which the cover of images is counted."""


def read_layer(pdfium: Any, page: Any, view: PageView) -> tuple[list[Line], list[Sides]] | None:
    """Return lines of text and ruled lines of a page; None when its text cannot be trusted."""
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return None
    try:
        letters = GlyphReader(pdfium, text_page, view).read()
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    if letters is None or not is_sane(letters):
        return None
    # A page that is mostly image is a scan; its text is another OCR's guess.
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
    """Tell whether characters are enough, known and drawn."""
    glyphs = letters.glyphs
    if len(glyphs) < MIN_CHARACTERS or letters.hidden > MAX_HIDDEN * len(glyphs):
        return False
    if any("\ufffd" in glyph.text for glyph in glyphs):
        return False
    good = sum(glyph.known and glyph.text.isprintable() for glyph in glyphs)
    return good >= MIN_PRINTABLE * len(glyphs)


class ImageCover:
    """Counts how much of a page lies under images, on a grid of cells."""

    def __init__(self, view: PageView) -> None:
        self._view = view
        self._rows = [0] * _GRID

    @property
    def share(self) -> float:
        """Share of the page that images cover, 0 to 1."""
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
