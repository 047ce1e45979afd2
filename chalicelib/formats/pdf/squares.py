"""Finds the small squares that a PDF page draws, such as tick boxes, and measures their ink.

Runs in the child process that reads PDFs (child.py), and imports only the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from chalicelib.formats.pdf.geometry import Raster
from chalicelib.formats.pdf.objects import Sides

# Smallest and largest side of a square in pixels of the raster: 4 to 22 points at 200 dpi.
_SIDES = (12.0, 60.0)
# Greatest difference of two sides, as a fraction of a side.
_OFF = 0.25
# Maximum number of squares of a page, and of lines with the same ends that are compared.
MAX_SQUARES, _MOST_ALIKE = 1_000, 50
# Minimum difference of brightness between paper and ink.
_CONTRAST = 48
# Greatest thickness of a line, and space around a square that is compared with it, in pixels.
_THICK, _SPACE = 4.0, 4

# Smallest x, smallest y, largest x, largest y, and the fraction of ink inside, 0 to 1.
InkedSides = tuple[float, float, float, float, float]


def drawn_squares(
    rules: Sequence[Sides], raster: Raster, draw: Callable[[], Any]
) -> list[InkedSides]:
    """Return the squares among the drawn lines of a page that are completely on the page.

    `draw` returns the pixels of the page, three bytes each, or None if there is too little memory.
    It is called only for pages with squares.
    """
    on_page = (each for each in _closed(rules) if _is_inside(each, raster))
    found = list(islice(on_page, MAX_SQUARES))
    pixels = draw() if found else None
    if pixels is None:
        return []
    rows = memoryview(pixels).cast("B")
    return [(*sides, _ink(rows, raster, sides)) for sides in found]


def _closed(rules: Sequence[Sides]) -> Iterator[Sides]:
    """Yield the areas between two horizontal lines as far apart as they are long."""
    lines: dict[tuple[int, int], set[int]] = {}
    for left, top, right, bottom in rules:
        if _SIDES[0] <= right - left <= _SIDES[1] and bottom - top <= _THICK:
            lines.setdefault((round(left), round(right)), set()).add(round((top + bottom) / 2))
    for (left, right), found in lines.items():
        side, rows = right - left, sorted(found)[:_MOST_ALIKE]
        for number, top in enumerate(rows):
            for bottom in rows[number + 1 :]:
                if abs(bottom - top - side) <= _OFF * side:
                    yield (float(left), float(top), float(right), float(bottom))


def _is_inside(sides: Sides, raster: Raster) -> bool:
    left, top, right, bottom = sides
    return left >= 0 and top >= 0 and right < raster.width and bottom < raster.height


def _ink(rows: memoryview, raster: Raster, sides: Sides) -> float:
    """Return the fraction of dark pixels inside a square, without its sides; 1 if it is filled."""
    left, top = max(0, int(sides[0]) - _SPACE), max(0, int(sides[1]) - _SPACE)
    right, bottom = int(sides[2]) + 1 + _SPACE, int(sides[3]) + 1 + _SPACE
    area: list[list[int]] = []
    for row in range(top, min(bottom, raster.height)):
        start = 3 * (raster.width * row + left)
        line = bytes(rows[start : start + 3 * (min(right, raster.width) - left)])
        area.append(list(map(min, line[::3], line[1::3], line[2::3])))
    paper = max(map(max, area))
    dark = [[paper - value > _CONTRAST for value in line] for line in area]
    height, width = len(dark), len(dark[0])
    # The inside begins after the first light pixel below the upper side, or right of the left one.
    column = [line[width // 2] for line in dark[: height // 2]]
    edge = min(_thickness(column), _thickness(dark[height // 2][: width // 2])) + 1
    inside = [line[edge : width - edge] for line in dark[edge : height - edge]]
    return sum(map(sum, inside)) / max(1, sum(map(len, inside)))


def _thickness(line: Sequence[bool]) -> int:
    """Return where the inside of a square begins on a line of pixels that begins outside of it."""
    first = line.index(True) if True in line else 0
    rest = line[first:]
    return first + (rest.index(False) + 1 if False in rest else 0)
