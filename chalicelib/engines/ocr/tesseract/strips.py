"""Combines areas with one line each into one image, so that a single run reads them all.

Starting the program takes longer than reading a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PIL import Image

from chalicelib.domain.documents.page import Point, Quad, TextLine, around_points
from chalicelib.engines.ocr.tesseract.lines import line_of

if TYPE_CHECKING:
    from chalicelib.engines.ocr.tesseract.caller import Word

# Maximum number of areas in one image.
SHEET = 40
_HEIGHT = 40  # of a strip, in pixels
_GAP = 24  # between strips
_MARGIN = 16
_PITCH = _HEIGHT + _GAP
_MOST_WIDTH = 4000  # longer areas are compressed, in pixels
_WHITE = 255
# A line whose ends differ by less, as a fraction of its height, needs no corners.
_UPRIGHT = 0.02


class Sheet:
    """An image with areas of a page, one below the other."""

    def __init__(self, image: Image.Image, quads: Sequence[Quad]) -> None:
        """Draw the image.

        Args:
            image: the page, grey.
            quads: corners of each area in reading direction; they may be outside the page.
        """
        self._size = image.size
        self._quads = quads
        strips = [_cut(image, quad) for quad in quads]
        self._widths = [strip.width for strip in strips]
        size = max(self._widths) + 2 * _MARGIN, len(strips) * _PITCH + 2 * _MARGIN
        self.image = Image.new("L", size, _WHITE)
        for number, strip in enumerate(strips):
            self.image.paste(strip, (_MARGIN, _MARGIN + number * _PITCH))

    def lines(self, words: Iterable[Word]) -> list[TextLine | None]:
        """Return the lines of the areas, from the words that were read in this image.

        Args:
            words: words that were read, in pixels of this image.

        Returns:
            A line for each area; None for an area without words.
        """
        found: list[list[Word]] = [[] for _ in self._quads]
        for word in words:
            number = int((word.box.center[1] - _MARGIN + _GAP / 2) // _PITCH)
            found[min(max(0, number), len(found) - 1)].append(word)
        return [self._line(number, group) for number, group in enumerate(found)]

    def _line(self, number: int, words: list[Word]) -> TextLine | None:
        if not words:
            return None
        quad = self._quads[number]
        width, height = self._size
        box = around_points(
            (min(max(0.0, x), float(width)), min(max(0.0, y), float(height))) for x, y in quad
        )
        words.sort(key=lambda word: word.box.min_x)
        span = (float(_MARGIN), float(_MARGIN + self._widths[number]))
        return line_of(words, span, box, None if _is_upright(quad) else quad)


def _is_upright(quad: Quad) -> bool:
    """Return whether an area is horizontal and read from left to right."""
    (left, top), (right, end), _, (_, bottom) = quad
    return right > left and abs(end - top) <= max(0.5, _UPRIGHT * (bottom - top))


def _cut(image: Image.Image, quad: Quad) -> Image.Image:
    """Crop an area of a page and rotate it upright; points outside the page are white."""
    width = min(_MOST_WIDTH, max(1, round(_HEIGHT * _ratio(*quad))))
    top_left, top_right, bottom_right, bottom_left = quad
    return image.transform(
        (width, _HEIGHT),
        Image.Transform.QUAD,
        (*top_left, *bottom_left, *bottom_right, *top_right),
        Image.Resampling.BICUBIC,
        fillcolor=_WHITE,
    )


def _ratio(top_left: Point, top_right: Point, bottom_right: Point, bottom_left: Point) -> float:
    length = max(math.dist(top_left, top_right), math.dist(bottom_left, bottom_right))
    breadth = max(math.dist(top_left, bottom_left), math.dist(top_right, bottom_right))
    return length / max(breadth, 1.0)
