"""Reads the characters of a PDF page and their positions from PDFium, one by one.

Runs in the child process that reads PDFs (child.py); imports only the standard library.
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import Any, NamedTuple

from chalicelib.formats.pdf.geometry import PageView

# Character limit for using a text layer; a newspaper page has 40,000.
MAX_CHARACTERS = 100_000

# Directions of reading are rounded to this many degrees.
ANGLE_STEP = 0.25

_INVISIBLE_MODES = (3, 7)
# Programs without a bold font also draw the outline of each letter, which makes it look bold.
_FILLED_AND_STROKED = 2
_BOLD_NAME = re.compile(rb"(?i)bold|black|heavy|-bd|,bd")
_MAX_FONT_NAME = 128
_FORCE_BOLD = 1 << 18  # flag of a font descriptor
# Characters beyond the basic plane come as two halves.
_HIGH_SURROGATES, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_UNKNOWN = "\ufffd"
_LINE_END_HYPHENS = (0x02, 0xFFFE)
_SOFT_HYPHEN = 0xAD
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}


class Glyph(NamedTuple):
    """A visible character of a page. Its coordinates are pixels of the page's raster."""

    text: str
    """The character; several for a ligature."""
    origin: tuple[float, float]
    """Start of the baseline."""
    box: tuple[float, float, float, float]
    """Box of the ink: smallest x, smallest y, largest x, largest y."""
    angle: float
    """Direction of reading in degrees clockwise from left-to-right, 0 to below 360.

    The angle is a multiple of ANGLE_STEP.
    """
    size: float
    """Height of the font in pixels."""
    run: int
    """Index of the text object that contains the character."""
    spaced: bool
    """Whether white space comes before the character."""
    known: bool
    """Whether the PDF maps the glyph to a Unicode character."""
    source: int = 0
    """Memory address of the text object in PDFium."""
    bold: bool = False
    """Whether the font is bold, according to its name or its flags."""


class _TextRun(NamedTuple):
    """The properties that all characters of a PDF text object have in common."""

    number: int
    source: int
    angle: float
    size: float
    visible: bool
    bold: bool


class Letters(NamedTuple):
    """The visible characters of a page, and the number of hidden characters."""

    glyphs: list[Glyph]
    """The visible characters, in the order of the PDF, without white space."""
    hidden: int
    """Number of characters that are not visible, such as hidden text under a scanned image."""


class GlyphReader:
    """Reads the characters of one PDF page."""

    def __init__(self, pdfium: Any, text_page: Any, view: PageView) -> None:
        self._pdfium = pdfium
        self._text = text_page
        self._view = view
        self._runs: dict[int, _TextRun] = {}
        self._sides = [ctypes.c_double() for _ in range(4)]
        self._references = [ctypes.byref(side) for side in self._sides]

    def read(self) -> Letters | None:
        """Return the characters of the page; None if there are too many."""
        count = self._pdfium.FPDFText_CountChars(self._text)
        if count > MAX_CHARACTERS:
            return None
        glyphs: list[Glyph] = []
        spaced = True
        hidden = 0
        for index in range(max(0, count)):
            code = self._pdfium.FPDFText_GetUnicode(self._text, index)
            if self._is_space(index, code):
                spaced = True
                continue
            run = self._run(index)
            text = self._letters(index, code)
            if not text:
                continue
            if not run.visible:
                hidden += 1
                continue
            glyph = self._glyph(index, text, run, spaced)
            if glyph is not None:
                glyphs.append(glyph)
                spaced = False
        return Letters(glyphs, hidden)

    def _is_space(self, index: int, code: int) -> bool:
        if code in _LINE_END_HYPHENS:
            return False
        if code in (0, 9, 10, 13, 32, 0xA0) or self._pdfium.FPDFText_IsGenerated(self._text, index):
            return True
        return code < 0x110000 and chr(code).isspace()

    def _letters(self, index: int, code: int) -> str:
        if code in _LIGATURES:
            return _LIGATURES[code]
        if code in _LINE_END_HYPHENS:
            return "-"
        if code == _SOFT_HYPHEN:
            # Fonts name a soft hyphen like this; one that has ink is displayed and read as a
            # hyphen.
            left, right, _, _ = self._box(index)
            return "-" if right > left else ""
        if code in _HIGH_SURROGATES:
            low = self._pdfium.FPDFText_GetUnicode(self._text, index + 1)
            return (
                chr(0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00) if low in _LOW else _UNKNOWN
            )
        if code in _LOW:
            before = self._pdfium.FPDFText_GetUnicode(self._text, index - 1) if index else 0
            # The second half of a character, which was read together with the first half.
            return "" if before in _HIGH_SURROGATES else _UNKNOWN
        if code >= 0x110000:
            return _UNKNOWN
        letter = chr(code)
        return "" if _is_format(code) else letter

    def _box(self, index: int) -> tuple[float, float, float, float]:
        self._pdfium.FPDFText_GetCharBox(self._text, index, *self._references)
        left, right, bottom, top = self._sides
        return left.value, right.value, bottom.value, top.value

    def _run(self, index: int) -> _TextRun:
        address = self._pdfium.FPDFText_GetTextObject(self._text, index)
        key = ctypes.cast(address, ctypes.c_void_p).value or 0
        if key not in self._runs:
            self._runs[key] = self._new_run(index, address, key)
        return self._runs[key]

    def _new_run(self, index: int, address: Any, key: int) -> _TextRun:
        matrix = self._pdfium.FS_MATRIX()
        self._pdfium.FPDFText_GetMatrix(self._text, index, ctypes.byref(matrix))
        font_size = self._pdfium.FPDFText_GetFontSize(self._text, index)
        sign = -1 if font_size < 0 else 1
        across, down = self._view.direction(sign * matrix.a, sign * matrix.b)
        turned = math.degrees(math.atan2(down, across))
        angle = round(turned / ANGLE_STEP) * ANGLE_STEP % 360
        size = abs(font_size) * math.hypot(matrix.c, matrix.d) * self._view.raster.per_point
        mode = self._pdfium.FPDFTextObj_GetTextRenderMode(address) if key else 0
        bold = mode == _FILLED_AND_STROKED or (bool(key) and self._is_bold(address))
        return _TextRun(len(self._runs), key, angle, size, mode not in _INVISIBLE_MODES, bold)

    def _is_bold(self, address: Any) -> bool:
        font = self._pdfium.FPDFTextObj_GetFont(address)
        if not font:
            return False
        name = ctypes.create_string_buffer(_MAX_FONT_NAME)
        self._pdfium.FPDFFont_GetBaseFontName(font, name, _MAX_FONT_NAME)
        has_flag = self._pdfium.FPDFFont_GetFlags(font) & _FORCE_BOLD > 0
        return has_flag or _BOLD_NAME.search(name.value) is not None

    def _glyph(self, index: int, text: str, run: _TextRun, spaced: bool) -> Glyph | None:
        """Return a character with its position; None if it is outside the displayed page."""
        left, right, bottom, top = self._box(index)
        x, y = self._references[0], self._references[1]
        self._pdfium.FPDFText_GetCharOrigin(self._text, index, x, y)
        origin = self._view.point(self._sides[0].value, self._sides[1].value)
        first, last = self._view.point(left, bottom), self._view.point(right, top)
        box = (
            min(first[0], last[0]),
            min(first[1], last[1]),
            max(first[0], last[0]),
            max(first[1], last[1]),
        )
        raster = self._view.raster
        if not (
            0 <= (box[0] + box[2]) / 2 <= raster.width
            and 0 <= (box[1] + box[3]) / 2 <= raster.height
            and all(map(math.isfinite, (*origin, run.size)))
        ):
            return None
        has_error = self._pdfium.FPDFText_HasUnicodeMapError(self._text, index) == 1
        known = text != _UNKNOWN and not has_error
        return Glyph(
            text, origin, box, run.angle, run.size, run.number, spaced, known, run.source, run.bold
        )


def _is_format(code: int) -> bool:
    return 0x200B <= code <= 0x200F or 0x2028 <= code <= 0x202E or code in (0x2060, 0xFEFF)
