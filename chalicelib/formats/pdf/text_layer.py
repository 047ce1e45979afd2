"""Reads the text layer of a PDF page, and decides whether it is reliable.

Runs in the child process that reads PDFs (child.py); imports only the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from chalicelib.formats.pdf.geometry import PageView, Raster
from chalicelib.formats.pdf.glyphs import Glyph, GlyphReader, Letters
from chalicelib.formats.pdf.objects import (
    IMAGE,
    PATH,
    Covers,
    DrawnRules,
    Matrix,
    PageObjects,
    Sides,
)
from chalicelib.formats.pdf.text_lines import Line, text_lines

# A page with fewer characters, and with images or more paths, is read from its pixels.
MIN_CHARACTERS, MAX_PATHS = 20, 40
# Minimum fraction of characters that must be printable and known.
MIN_PRINTABLE = 0.95
# Greatest fraction of hidden characters: more are the text that another OCR put under a scan.
MAX_HIDDEN = 0.1
# Greatest fraction of the page under images: more is a scan.
MAX_IMAGE_SHARE = 0.5

# Images with more characters of the layer on them are backgrounds, whose text is in the layer.
MAX_TEXT_ON_IMAGE = 2
# Smallest image that may hold text, as a fraction of the page, and its smallest side in pixels.
MIN_IMAGE_SHARE, MIN_IMAGE_SIDE = 0.002, 30.0
# Maximum number of images of a page whose text is recognised.
MAX_PICTURES = 50

_UNKNOWN = "\ufffd"
# Smallest difference of a colour channel, 0 to 255, between a character and its ground.
_CONTRAST = 8
# Greatest total area of characters that are compared with their ground, in areas of the page.
_MOST_COMPARED = 4

# Cells per side of the grid on which the cover of images is counted.
_GRID = 64


class Layer(NamedTuple):
    """The text layer of a page, and the drawn lines and the images of the page."""

    lines: list[Line] | None
    """None if all text is hidden or very short, so that the page is read from its pixels."""
    rules: list[Sides]
    pictures: list[Sides]
    """Images on which the layer has no text, so that OCR must read them."""
    notes: list[str]
    """`hiddenText` if text of the layer is hidden; `notCompared` if this could not be checked."""


def read_layer(pdfium: Any, page: Any, view: PageView, draw: Callable[[], Any]) -> Layer | None:
    """Return text lines, drawn lines and images of a page; None if the text is not reliable.

    `draw` returns the pixels of the page, or None if there is too little memory.
    """
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return None
    try:
        letters = GlyphReader(pdfium, text_page, view).read()
        if letters is None or not is_readable(letters):
            return None
        cover, rules, covers = ImageCover(view), DrawnRules(pdfium, view), Covers(pdfium, view)
        paths = 0
        objects = PageObjects(pdfium)
        for kind, thing, matrix in objects.walk(page):
            covers.add(kind, thing, matrix)
            if kind == IMAGE:
                cover.add(matrix)
            elif kind == PATH:
                paths += 1
                rules.add(thing, matrix)
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    # A page that is mostly image is a scan; its text is the output of another OCR.
    if cover.share >= MAX_IMAGE_SHARE:
        return None
    glyphs = with_ink(visible_glyphs(letters.glyphs, covers), covers.white, view, draw)
    # Few characters may be a footer below outlined text: then the page is read from its pixels.
    if not glyphs or (len(glyphs) < MIN_CHARACTERS and (cover.share or paths > MAX_PATHS)):
        return Layer(None, [], [], [] if glyphs else ["hiddenText"])
    lines = text_lines(
        [glyph for glyph in glyphs if glyph.text not in _UNKNOWN and glyph.text.isprintable()]
    )
    has_hidden = letters.hidden > 0 or len(glyphs) < len(letters.glyphs)
    is_undrawn = bool(covers.white) and draw() is None
    is_partial = objects.is_cut_short or covers.is_full or is_undrawn
    notes = ["hiddenText"] * has_hidden + ["notCompared"] * is_partial
    return Layer(lines, rules.rules(), cover.without_text(glyphs), notes)


def visible_glyphs(glyphs: list[Glyph], covers: Covers) -> list[Glyph]:
    """Return the characters that are not hidden by an opaque object."""
    above = {source: covers.above(source) for source in {glyph.source for glyph in glyphs}}
    return [
        glyph for glyph in glyphs if not any(_holds(each, glyph) for each in above[glyph.source])
    ]


def with_ink(
    glyphs: list[Glyph], white: set[int], view: PageView, draw: Callable[[], Any]
) -> list[Glyph]:
    """Return the characters without those of white text objects that are on white ground.

    What is under a text object may be anything, so the drawn page decides. It is drawn only if it
    has white text. Glyphs may be huge, so after some of them the rest counts as visible.
    """
    pale = [glyph for glyph in glyphs if glyph.source in white]
    pixels = draw() if pale else None
    if pixels is None:
        return glyphs
    rows, seen = memoryview(pixels).cast("B"), set[int]()
    left = float(_MOST_COMPARED) * view.raster.width * view.raster.height
    for glyph in pale:
        if glyph.source not in seen:
            left -= (glyph.box[2] - glyph.box[0]) * (glyph.box[3] - glyph.box[1])
            if left < 0 or _has_contrast(rows, view.raster, glyph.box):
                seen.add(glyph.source)
    return [glyph for glyph in glyphs if glyph.source not in white - seen]


def _has_contrast(rows: memoryview, raster: Raster, box: Sides) -> bool:
    """Return whether a box of the drawn page, of three bytes a pixel, has more than one colour."""
    left, top = max(0, int(box[0]) - 1), max(0, int(box[1]) - 1)
    right, bottom = min(raster.width, int(box[2]) + 2), min(raster.height, int(box[3]) + 2)
    span = slice(3 * left, 3 * right)
    area = [bytes(rows[3 * raster.width * row :][span]) for row in range(top, bottom)]
    return any(
        max(channel) - min(channel) >= _CONTRAST
        for first in range(3)
        if (channel := b"".join(row[first::3] for row in area))
    )


def is_readable(letters: Letters) -> bool:
    """Return whether most characters of a page are visible and have a known Unicode code point."""
    glyphs = letters.glyphs
    if not glyphs or letters.hidden > MAX_HIDDEN * len(glyphs):
        return False
    good = sum(glyph.known and glyph.text.isprintable() for glyph in glyphs)
    return good >= MIN_PRINTABLE * len(glyphs)


def _holds(sides: Sides, glyph: Glyph) -> bool:
    x, y = (glyph.box[0] + glyph.box[2]) / 2, (glyph.box[1] + glyph.box[3]) / 2
    return sides[0] <= x <= sides[2] and sides[1] <= y <= sides[3]


class ImageCover:
    """Measures, on a grid of cells, the fraction of a page that images cover."""

    def __init__(self, view: PageView) -> None:
        self._view = view
        self._rows = [0] * _GRID
        self._images: list[Sides] = []

    @property
    def share(self) -> float:
        """Return the fraction of the page that images cover, 0 to 1."""
        return sum(row.bit_count() for row in self._rows) / _GRID**2

    def add(self, matrix: Matrix) -> None:
        """Mark the cells that an image covers. `matrix` maps the unit square to the image."""
        a, b, c, d, e, f = matrix
        corners = [
            self._view.point(e + x * a + y * c, f + x * b + y * d) for x in (0, 1) for y in (0, 1)
        ]
        if not all(math.isfinite(value) for corner in corners for value in corner):
            return
        raster = self._view.raster
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        self._images.append(
            (
                max(0.0, min(xs)),
                max(0.0, min(ys)),
                min(float(raster.width), max(xs)),
                min(float(raster.height), max(ys)),
            )
        )
        across = _cells([x / raster.width for x, _ in corners])
        mask = sum(1 << cell for cell in across)
        for row in _cells([y / raster.height for _, y in corners]):
            self._rows[row] |= mask

    def without_text(self, glyphs: list[Glyph]) -> list[Sides]:
        """Return the boxes of large images on which the text layer has almost no characters."""
        page = self._view.raster.width * self._view.raster.height
        found = []
        for sides in self._images:
            width, height = sides[2] - sides[0], sides[3] - sides[1]
            is_large = min(width, height) >= MIN_IMAGE_SIDE
            if is_large and width * height >= MIN_IMAGE_SHARE * page:
                inside = sum(_holds(sides, glyph) for glyph in glyphs)
                if inside <= MAX_TEXT_ON_IMAGE:
                    found.append(sides)
        return found[:MAX_PICTURES]


def _cells(shares: list[float]) -> range:
    first = math.ceil(max(0.0, min(shares)) * _GRID - 0.5) if min(shares) < 1 else _GRID
    last = math.floor(min(1.0, max(shares)) * _GRID - 0.5) if max(shares) > 0 else -1
    return range(max(0, first), min(_GRID - 1, last) + 1)
