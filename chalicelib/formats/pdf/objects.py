"""Visits the objects of a PDF page and of its form XObjects; finds drawn lines and opaque areas.

Runs in the child process that reads PDFs (child.py), and imports only the standard library.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from chalicelib.formats.pdf.geometry import PageView

_MAX_OBJECTS = 200_000
_MAX_DEPTH = 8  # A form can contain forms; one that contains itself would never end.
_MAX_SEGMENTS = 200_000
# Limit of ruled lines on a page; more are a pattern, and the page counts as one without lines.
MAX_RULES = 4_000
TEXT, PATH, IMAGE, _FORM = 1, 2, 3, 5
_LINE = 0
_FILLED = 0
_CORNERS = 3
_OPAQUE = 255
# Largest numbers of stored covers, of segments in a covering path, and of clip paths.
_MAX_COVERS, _MAX_COVER_SEGMENTS, _MAX_CLIPS = 200, 12, 20
_WHITE = 250
# Limit of stored coloured fills; they are needed because a white line is visible only on one.
_MAX_FILLS = 300
# Greatest width in pixels of a filled strip that counts as a line.
_THIN = 4.0
# Minimum length of a line in pixels; dashes and serifs are shorter.
_SHORTEST = 12.0
# Greatest slope of a line, as a fraction of its length.
_LEAN = 0.02

Matrix = tuple[float, float, float, float, float, float]
PLAIN: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# Smallest x, smallest y, largest x, largest y.
Sides = tuple[float, float, float, float]
# A point in pixels of the raster.
Dot = tuple[float, float]


class PageObjects:
    """Visits the objects of a page, up to a maximum number."""

    def __init__(self, pdfium: Any) -> None:
        self._pdfium = pdfium
        self._left = _MAX_OBJECTS

    @property
    def is_cut_short(self) -> bool:
        """Return whether the page has more objects than the maximum that is visited."""
        return self._left < 0

    def walk(self, page: Any) -> Iterator[tuple[int, Any, Matrix]]:
        """Yield the kind of each object, the object, and the matrix that places it on the page."""
        count, get = self._pdfium.FPDFPage_CountObjects, self._pdfium.FPDFPage_GetObject
        for number in range(count(page)):
            yield from self._visit(get(page, number), PLAIN, 0)

    def _visit(self, item: Any, matrix: Matrix, depth: int) -> Iterator[tuple[int, Any, Matrix]]:
        # Nested forms can contain billions of objects.
        self._left -= 1
        if self._left < 0:
            return
        kind = self._pdfium.FPDFPageObj_GetType(item)
        own = combine(self._matrix(item), matrix)
        if kind == _FORM and depth < _MAX_DEPTH:
            for number in range(self._pdfium.FPDFFormObj_CountObjects(item)):
                inner = self._pdfium.FPDFFormObj_GetObject(item, number)
                yield from self._visit(inner, own, depth + 1)
        elif kind in {TEXT, PATH, IMAGE}:
            yield kind, item, own

    def _matrix(self, item: Any) -> Matrix:
        found = self._pdfium.FS_MATRIX()
        if not self._pdfium.FPDFPageObj_GetMatrix(item, ctypes.byref(found)):
            return PLAIN
        return found.a, found.b, found.c, found.d, found.e, found.f


class DrawnRules:
    """Collects the horizontal and vertical lines that are drawn on a page."""

    def __init__(self, pdfium: Any, view: PageView) -> None:
        self._pdfium = pdfium
        self._view = view
        self._left = _MAX_SEGMENTS
        self._found: list[Sides] = []
        self._fills: list[Sides] = []

    def add(self, item: Any, matrix: Matrix) -> None:
        """Add the horizontal and vertical lines of a path object, unless they are dashed."""
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        mode = self._pdfium.FPDFPath_GetDrawMode
        if not mode(item, ctypes.byref(fill), ctypes.byref(stroke)):
            return
        is_stroked = bool(stroke.value) and self._pdfium.FPDFPageObj_GetDashCount(item) < 1
        if not is_stroked and fill.value == _FILLED:
            return
        for dots in self._outlines(item, matrix):
            if is_stroked:
                for first, second in pairwise(dots):
                    self._keep(_sides([first, second]), 0.0)
            elif len(dots) > _CORNERS:
                self._fill(item, _sides(dots))

    def rules(self) -> list[Sides]:
        """Return the drawn lines; an empty list if there are too many."""
        return self._found if len(self._found) <= MAX_RULES else []

    def _outlines(self, item: Any, matrix: Matrix) -> Iterator[list[Dot]]:
        dots: list[Dot] = []
        x, y = ctypes.c_float(), ctypes.c_float()
        for number in range(self._pdfium.FPDFPath_CountSegments(item)):
            self._left -= 1
            if self._left < 0:
                return
            segment = self._pdfium.FPDFPath_GetPathSegment(item, number)
            kind = self._pdfium.FPDFPathSegment_GetType(segment)
            if kind != _LINE and dots:
                yield dots
                dots = []
            self._pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
            dots.append(self._place(x.value, y.value, matrix))
            if self._pdfium.FPDFPathSegment_GetClose(segment):
                dots.append(dots[0])
        yield dots

    def _place(self, x: float, y: float, matrix: Matrix) -> Dot:
        a, b, c, d, e, f = matrix
        return self._view.point(a * x + c * y + e, b * x + d * y + f)

    def _fill(self, item: Any, sides: Sides) -> None:
        """Add a thin filled area as one line, or the visible edges of a larger filled area."""
        self._keep(sides, _THIN)
        left, top, right, bottom = sides
        if min(right - left, bottom - top) <= _THIN:
            return
        if is_white(self._pdfium, item):
            x, y = (left + right) / 2, (top + bottom) / 2
            if not any(a < x < c and b < y < d for a, b, c, d in self._fills):
                return
        elif len(self._fills) < _MAX_FILLS:
            self._fills.append(sides)
        for each in (
            (left, top, right, top),
            (left, bottom, right, bottom),
            (left, top, left, bottom),
            (right, top, right, bottom),
        ):
            self._keep(each, 0.0)

    def _keep(self, sides: Sides, thickness: float) -> None:
        if not all(map(math.isfinite, sides)) or len(self._found) > MAX_RULES:
            return
        raster = self._view.raster
        width, height = sides[2] - sides[0], sides[3] - sides[1]
        is_thin = min(width, height) <= max(thickness, _LEAN * max(width, height))
        is_outside = sides[2] < 0 or sides[3] < 0 or sides[0] > raster.width
        if is_thin and max(width, height) >= _SHORTEST and not is_outside:
            left, bottom, right, top = (round(side, 1) for side in sides)
            self._found.append((left, bottom, right, top))


class Covers:
    """Opaque areas and images on a page. They hide objects that were drawn before them.

    Objects in form XObjects are ignored, because their clip paths are in other coordinates.
    """

    def __init__(self, pdfium: Any, view: PageView) -> None:
        self._pdfium = pdfium
        self._view = view
        self._order = 0
        self._texts: dict[int, int] = {}
        self.white: set[int] = set()
        """Memory addresses of the text objects that are filled with white."""
        self._covers: list[tuple[int, Sides]] = []

    def add(self, kind: int, item: Any, matrix: Matrix) -> None:
        """Record an object of the page. Objects must come in the order in which they are drawn."""
        self._order += 1
        if kind == TEXT:
            self._texts.setdefault(address(item), self._order)
            if is_white(self._pdfium, item):
                self.white.add(address(item))
        elif self._texts and len(self._covers) < _MAX_COVERS and self._is_opaque(kind, item):
            sides = self._clipped(item, self._outline(kind, item, matrix))
            if sides is not None and min(sides[2] - sides[0], sides[3] - sides[1]) > _THIN:
                self._covers.append((self._order, sides))

    @property
    def is_full(self) -> bool:
        """Return whether the maximum number of areas is stored, so that some may be missing."""
        return len(self._covers) >= _MAX_COVERS

    def above(self, text: int) -> list[Sides]:
        """Return the opaque areas drawn after the text object whose memory address is `text`."""
        order = self._texts.get(text, self._order)
        return [sides for place, sides in self._covers if place > order]

    def _is_opaque(self, kind: int, item: Any) -> bool:
        if self._pdfium.FPDFPageObj_HasTransparency(item):
            return False
        if kind == IMAGE:
            return True
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        self._pdfium.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroke))
        channels = [ctypes.c_uint() for _ in range(4)]
        known = self._pdfium.FPDFPageObj_GetFillColor(item, *map(ctypes.byref, channels))
        return bool(fill.value and known) and channels[3].value == _OPAQUE

    def _outline(self, kind: int, item: Any, matrix: Matrix) -> Sides | None:
        """Return the rectangle that an image or a rectangular path covers; None for other paths."""
        a, b, c, d, e, f = matrix
        if kind == IMAGE:
            corners = [(e + x * a + y * c, f + x * b + y * d) for x in (0, 1) for y in (0, 1)]
            return _sides([self._view.point(x, y) for x, y in corners])
        count = self._pdfium.FPDFPath_CountSegments(item)
        points = _points(self._pdfium, count, partial(self._pdfium.FPDFPath_GetPathSegment, item))
        places = [self._view.point(a * x + c * y + e, b * x + d * y + f) for x, y in points]
        across, down = {round(x) for x, _ in places}, {round(y) for _, y in places}
        is_rectangle = _CORNERS < len(places) <= _CORNERS + 2 and len(across) == len(down) == 2
        return _sides(places) if is_rectangle else None

    def _clipped(self, item: Any, sides: Sides | None) -> Sides | None:
        """Return the part of an object's rectangle inside the clip paths; None if unknown."""
        clip = self._pdfium.FPDFPageObj_GetClipPath(item)
        paths = self._pdfium.FPDFClipPath_CountPaths(clip) if clip else 0
        for path in range(min(_MAX_CLIPS, max(0, paths))):
            count = self._pdfium.FPDFClipPath_CountPathSegments(clip, path)
            segment = partial(self._pdfium.FPDFClipPath_GetPathSegment, clip, path)
            points = _points(self._pdfium, count, segment)
            if sides is None or not points:
                return None
            box = _sides([self._view.point(x, y) for x, y in points])
            sides = (
                max(sides[0], box[0]),
                max(sides[1], box[1]),
                min(sides[2], box[2]),
                min(sides[3], box[3]),
            )
        return sides


def is_white(pdfium: Any, item: Any) -> bool:
    """Return whether an object is filled with white."""
    channels = [ctypes.c_uint() for _ in range(4)]
    known = pdfium.FPDFPageObj_GetFillColor(item, *map(ctypes.byref, channels))
    return bool(known) and all(channel.value >= _WHITE for channel in channels[:3])


def address(item: Any) -> int:
    """Return the memory address of a PDFium object, which identifies it."""
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _points(pdfium: Any, count: int, segment: Callable[[int], Any]) -> list[Dot]:
    """Return the points of a path; an empty list if the path has too many segments."""
    x, y = ctypes.c_float(), ctypes.c_float()
    found = []
    for number in range(count if count <= _MAX_COVER_SEGMENTS else 0):
        pdfium.FPDFPathSegment_GetPoint(segment(number), ctypes.byref(x), ctypes.byref(y))
        found.append((x.value, y.value))
    return found


def _sides(dots: list[Dot]) -> Sides:
    xs, ys = [x for x, _ in dots], [y for _, y in dots]
    return min(xs), min(ys), max(xs), max(ys)


def combine(first: Matrix, then: Matrix) -> Matrix:
    """Return the matrix that applies `first` and then `then`."""
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
