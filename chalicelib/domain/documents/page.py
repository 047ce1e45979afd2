"""Pages of a document and the text lines on them.

All coordinates are pixels of the page's raster, which may be finer or coarser than the pixels that
the API returns: `Page.scale` converts them. The origin is the top left corner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, dist
from typing import TYPE_CHECKING, Final, Literal

from chalicelib.domain.documents.picture import PixelBox

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

NoteCode = Literal["unreadInk", "hiddenText", "empty", "notCompared", "xfa"]
UNREAD_INK: Final = "unreadInk"
HIDDEN_TEXT: Final = "hiddenText"
EMPTY: Final = "empty"
NOT_COMPARED: Final = "notCompared"
XFA: Final = "xfa"
_MESSAGES: Mapping[NoteCode, str] = {
    UNREAD_INK: "The page shows something that was not read as text.",
    HIDDEN_TEXT: "The page's text layer has text that the page does not show; it was left out.",
    EMPTY: "The page is blank.",
    NOT_COMPARED: "The page has too many objects to find out which of its text is covered.",
    XFA: "The PDF has an XFA form, which is ignored.",
}


@dataclass(frozen=True, slots=True)
class PageNote:
    """A note on a page."""

    page_number: int
    """Number of the page, from 1."""
    code: NoteCode

    @property
    def message(self) -> str:
        """Return the text of the note, one sentence."""
        return _MESSAGES[self.code]


# Distance from the left and from the top edge, in pixels.
Point = tuple[float, float]
# Corners of a text line in reading direction: top left, top right, bottom right, bottom left.
Quad = tuple[Point, Point, Point, Point]
# A line with at least this relative sag counts as bent. Flat pages have no bent line, and bent
# pages have many.
BENT = 0.15


@dataclass(frozen=True, slots=True)
class Rect:
    """An upright rectangle in pixels of the page's raster."""

    min_x: float
    min_y: float
    max_x: float
    max_y: float

    @property
    def width(self) -> float:
        """Return the width in pixels."""
        return self.max_x - self.min_x

    @property
    def height(self) -> float:
        """Return the height in pixels."""
        return self.max_y - self.min_y

    @property
    def center(self) -> Point:
        """Return the centre."""
        return (self.min_x + self.max_x) / 2, (self.min_y + self.max_y) / 2

    @property
    def area(self) -> float:
        """Return the area in square pixels."""
        return max(0.0, self.width) * max(0.0, self.height)

    def overlap(self, other: Rect) -> float:
        """Return the area that both rectangles cover, in square pixels."""
        width = min(self.max_x, other.max_x) - max(self.min_x, other.min_x)
        height = min(self.max_y, other.max_y) - max(self.min_y, other.min_y)
        return max(0.0, width) * max(0.0, height)

    def has_center_of(self, other: Rect) -> bool:
        """Return whether the centre of another rectangle is inside this one."""
        x, y = other.center
        return self.min_x < x < self.max_x and self.min_y < y < self.max_y


def around(rects: Iterable[Rect]) -> Rect:
    """Return the smallest rectangle around all given rectangles; at least one is required."""
    found = list(rects)
    return Rect(
        min(rect.min_x for rect in found),
        min(rect.min_y for rect in found),
        max(rect.max_x for rect in found),
        max(rect.max_y for rect in found),
    )


def between(first: Point, last: Point, place: float) -> Point:
    """Return the point at the fraction `place`, 0 to 1, of the way from `first` to `last`."""
    return (
        first[0] + place * (last[0] - first[0]),
        first[1] + place * (last[1] - first[1]),
    )


def around_points(points: Iterable[Point]) -> Rect:
    """Return the smallest upright rectangle around all points."""
    found = list(points)
    return Rect(
        min(x for x, _ in found),
        min(y for _, y in found),
        max(x for x, _ in found),
        max(y for _, y in found),
    )


@dataclass(frozen=True, slots=True)
class Course:
    """The curve along which a text line runs on a bent page."""

    points: tuple[Point, ...]
    """At least three points along the middle of the line, from its beginning to its end."""
    height: float
    """Height of the line, in pixels."""

    @property
    def length(self) -> float:
        """Return the distance between the ends of the curve, in pixels."""
        return dist(self.points[0], self.points[-1])

    @property
    def sag(self) -> float:
        """Return how far the curve deviates from a straight line, divided by the line height."""
        (x, y), (end_x, end_y) = self.points[0], self.points[-1]
        across = [(px - x) * (end_y - y) - (py - y) * (end_x - x) for px, py in self.points]
        area = self.length * self.height
        return (max(across) - min(across)) / area if area else 0.0

    def scaled(self, scale: float) -> Course:
        """Return the curve with all coordinates multiplied by `scale`."""
        points = tuple((x * scale, y * scale) for x, y in self.points)
        return Course(points, self.height * scale)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A run of words on one line, recognised by an engine or read from a PDF's text layer."""

    text: str
    """Words separated by single spaces; empty for a line that the engine could not recognise."""
    probability: float
    """Probability that the text is right, 0 to 1; 1 for a text layer."""
    box: Rect
    quad: Quad | None = None
    """Corners of a line that is not upright; None if they are the corners of the box."""
    places: tuple[float, ...] = ()
    """Centre of each character along the line, from 0 to 1; empty if unknown."""
    course: Course | None = None
    """Curve of the line; None for a short or vertical line."""
    is_bold: bool = False
    """Whether the text is bold. Only a text layer shows this."""

    @property
    def corners(self) -> Quad:
        """Return the corners of the line in reading direction."""
        if self.quad is not None:
            return self.quad
        box = self.box
        return (
            (box.min_x, box.min_y),
            (box.max_x, box.min_y),
            (box.max_x, box.max_y),
            (box.min_x, box.max_y),
        )


@dataclass(frozen=True, slots=True)
class FormWidget:
    """An area in which a PDF shows an interactive form field. A field can have several widgets."""

    name: str
    """Full name of the field in the PDF, with parts separated by dots."""
    kind: str
    """One of `FIELD_KINDS` of form_widgets.py."""
    value: str
    """Value of the field, empty if there is none. Line feeds separate several choices."""
    checked: bool | None
    """Whether a check box or radio button is ticked; None for other kinds of fields."""
    rect: Rect
    """Box in pixels of the page's raster; may be outside the page."""


@dataclass(frozen=True, slots=True)
class Square:
    """A small square or circle that a page draws, such as a tick box or radio button."""

    rect: Rect
    """Its outer edges."""
    ink: float
    """Fraction of dark pixels inside, 0 to 1."""
    is_tight: bool = False
    """Whether ink is directly left or right of the square, as next to a letter."""
    is_round: bool = False
    """Whether it is a circle, such as a radio button."""


@dataclass(frozen=True, eq=False)
class Page:
    """One page: a raster, a text layer, or both."""

    number: int
    """Number of the page, from 1."""
    width: int
    """Width in pixels at the scale of the raster; also set if `pixels` is None."""
    height: int
    scale: float
    """Factor from pixels of the raster to the pixels that the API returns."""
    pixels: Pixels | None = None
    """RGB, uint8, shape (height, width, 3); None if only the text layer is used."""
    layer: tuple[TextLine, ...] | None = None
    """Lines of the PDF's text layer; None if the page has no layer or the layer is unreliable."""
    rules: tuple[Rect, ...] | None = None
    """Horizontal and vertical lines drawn by a PDF with a text layer; None if unknown."""
    widgets: tuple[FormWidget, ...] = ()
    """Form fields of the PDF on this page, if requested."""
    pictures: tuple[Rect, ...] = ()
    """Boxes of the images on a page with a text layer. The layer lacks the text in these images."""
    notes: tuple[NoteCode, ...] = ()
    """Codes that say what was left out when the page was read."""
    squares: tuple[Square, ...] = ()
    """Small squares drawn by a PDF with a text layer, if form fields are requested."""

    def answer_box(self, rect: Rect) -> PixelBox:
        """Convert a rectangle to whole pixels of the page as displayed, clipped to the page."""
        width, height = self.answer_size
        return PixelBox(
            min(max(0, round(rect.min_x * self.scale)), width),
            min(max(0, round(rect.min_y * self.scale)), height),
            min(max(0, round(rect.max_x * self.scale)), width),
            min(max(0, round(rect.max_y * self.scale)), height),
        )

    @property
    def answer_size(self) -> tuple[int, int]:
        """Return width and height of the page as displayed, in pixels."""
        return round(self.width * self.scale), round(self.height * self.scale)


@dataclass(frozen=True, slots=True)
class Unrolling:
    """Maps points of a straightened page image to points of the original bent image."""

    width: int
    height: int
    step: int
    """Distance between grid nodes, in pixels of the straightened image."""
    nodes: tuple[tuple[Point, ...], ...]
    """For each node of a grid on the straight image, row by row, its point on the bent image."""

    def on_bent(self, point: Point) -> Point:
        """Convert a point of the straightened image to a point of the bent image."""
        right = min(max(0.0, point[0] / self.step), len(self.nodes[0]) - 1)
        down = min(max(0.0, point[1] / self.step), len(self.nodes) - 1)
        column, row = min(int(right), len(self.nodes[0]) - 2), min(int(down), len(self.nodes) - 2)
        right, down = right - column, down - row
        above, below = (
            self.nodes[row][column : column + 2],
            self.nodes[row + 1][column : column + 2],
        )
        x, y = (
            (a * (1 - right) + b * right) * (1 - down) + (c * (1 - right) + d * right) * down
            for a, b, c, d in zip(*above, *below, strict=True)
        )
        return x, y

    def turned_over(self, width: float, height: float) -> Unrolling:
        """Return the mapping after both images are rotated by 180°.

        `width` and `height` are the width and height of the bent image, in pixels.
        """
        nodes = tuple(
            tuple((width - x, height - y) for x, y in reversed(row)) for row in reversed(self.nodes)
        )
        return replace(self, nodes=nodes)

    def around_bent(self, rect: Rect) -> Rect:
        """Convert a rectangle of the straightened image to the box around it on the bent image."""
        steps = max(1, ceil(rect.width / self.step))
        columns = [rect.min_x + rect.width * step / steps for step in range(steps + 1)]
        sides = (rect.min_y, rect.max_y)
        return around_points(self.on_bent((x, y)) for x in columns for y in sides)


@dataclass(frozen=True, eq=False)
class ReadPage:
    """A page that was rotated to upright text, with its text lines.

    Coordinates of `lines` are pixels of the rotated page. If the page was bent, they are pixels of
    the straightened page.
    """

    page: Page
    turns: int
    """Number of clockwise quarter turns by which the page was rotated: 0, 1, 2 or 3."""
    pixels: Pixels | None
    """RGB, uint8, shape (height, width, 3); None if only the text layer is used."""
    lines: tuple[TextLine, ...]
    is_exact: bool = False
    """Whether the lines come from a PDF's text layer instead of OCR."""
    rules: tuple[Rect, ...] | None = None
    """Horizontal and vertical lines that the PDF draws; None if they can only be found in the
    image."""
    unread: tuple[Rect, ...] = ()
    """Boxes of text that was detected but not recognised."""
    unrolling: Unrolling | None = None
    """Mapping to the bent page, if the page was straightened after the rotation; None otherwise."""

    @property
    def width(self) -> int:
        """Return the width of the raster of the lines, in pixels."""
        if self.unrolling is not None:
            return self.unrolling.width
        return self.page.height if self.turns % 2 else self.page.width

    @property
    def height(self) -> int:
        """Return the height of the raster of the lines, in pixels."""
        if self.unrolling is not None:
            return self.unrolling.height
        return self.page.width if self.turns % 2 else self.page.height

    def answer_box(self, rect: Rect) -> PixelBox:
        """Convert a rectangle in the lines' raster to whole pixels of the page as displayed."""
        if self.unrolling is not None:
            rect = self.unrolling.around_bent(rect)
        return self.page.answer_box(around_points(self._on_page(point) for point in _ends(rect)))

    def _on_page(self, point: Point) -> Point:
        x, y = point
        width, height = self.page.width, self.page.height
        return ((x, y), (y, height - x), (width - x, height - y), (width - y, x))[self.turns]


def _ends(rect: Rect) -> tuple[Point, Point]:
    return (rect.min_x, rect.min_y), (rect.max_x, rect.max_y)
