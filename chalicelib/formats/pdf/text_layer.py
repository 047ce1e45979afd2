"""Whether a PDF page's own text can be trusted, and that text.

Runs in the child process that reads PDFs (pdf_child.py); imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

from chalicelib.formats.pdf.geometry import PageView
from chalicelib.formats.pdf.glyphs import GlyphReader, Letters
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
_MAX_OBJECTS = 200_000
_MAX_DEPTH = 8
_IMAGE = 3
_FORM = 5

Matrix = tuple[float, float, float, float, float, float]
_PLAIN: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def read_layer(pdfium: Any, page: Any, view: PageView) -> list[Line] | None:
    """Return the lines of a page's text layer; None when it cannot be trusted."""
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
    if ImageCover(pdfium, view).share(page) >= MAX_IMAGE_SHARE:
        return None
    return text_lines([glyph for glyph in letters.glyphs if glyph.text.isprintable()])


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

    def __init__(self, pdfium: Any, view: PageView) -> None:
        self._pdfium = pdfium
        self._view = view
        self._rows = [0] * _GRID
        self._left = _MAX_OBJECTS

    def share(self, page: Any) -> float:
        """Return the share of the page that images cover, 0 to 1."""
        count, get = self._pdfium.FPDFPage_CountObjects, self._pdfium.FPDFPage_GetObject
        for number in range(count(page)):
            self._add(get(page, number), _PLAIN, 0)
        return sum(row.bit_count() for row in self._rows) / _GRID**2

    def _add(self, thing: Any, matrix: Matrix, depth: int) -> None:
        """Count an object of the page, and those inside it."""
        # A page may nest forms so that it has billions of objects.
        self._left -= 1
        if self._left < 0:
            return
        kind = self._pdfium.FPDFPageObj_GetType(thing)
        if kind == _IMAGE:
            self._cover(thing, matrix)
        elif kind == _FORM and depth < _MAX_DEPTH:
            inner = _combine(self._matrix(thing), matrix)
            for number in range(self._pdfium.FPDFFormObj_CountObjects(thing)):
                self._add(self._pdfium.FPDFFormObj_GetObject(thing, number), inner, depth + 1)

    def _matrix(self, thing: Any) -> Matrix:
        found = self._pdfium.FS_MATRIX()
        if not self._pdfium.FPDFPageObj_GetMatrix(thing, ctypes.byref(found)):
            return _PLAIN
        return found.a, found.b, found.c, found.d, found.e, found.f

    def _cover(self, thing: Any, matrix: Matrix) -> None:
        """Mark the cells under an image, which fills the unit square of its matrix."""
        a, b, c, d, e, f = _combine(self._matrix(thing), matrix)
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


def _combine(first: Matrix, then: Matrix) -> Matrix:
    """Return the matrix that applies one matrix after another."""
    a, b, c, d, e, f = first
    m, n, o, p, q, r = then
    return (
        a * m + b * o,
        a * n + b * p,
        c * m + d * o,
        c * n + d * p,
        e * m + f * o + q,
        e * n + f * p + r,
    )
