"""What the process that reads a PDF says, checked: it worked on a hostile file."""

from __future__ import annotations

import math

import msgspec

from chalicelib.domain.documents.page import Point, Quad, Rect, TextLine
from chalicelib.formats.pdf.frames import ProcessFailed
from chalicelib.formats.pdf.geometry import Raster


class Opening(msgspec.Struct, forbid_unknown_fields=True):
    """What is said of the document."""

    pages: int = 0
    """How many there are."""
    error: str = ""
    """Why it cannot be opened: `password`, `security` or `format`."""


class Sides(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A line of the text layer, in pixels of the raster."""

    text: str
    """Words separated by single spaces."""
    box: tuple[float, float, float, float]
    """Least x, least y, greatest x, greatest y."""
    quad: Quad | None
    """Its corners when it is not upright."""
    places: tuple[float, ...]
    """Middle of each character along the line."""


class PageFacts(msgspec.Struct, forbid_unknown_fields=True):
    """What is said of a page."""

    width: float = 0.0
    """Points from left to right as displayed."""
    height: float = 0.0
    """Points from top to bottom as displayed."""
    lines: list[Sides] | None = None
    """The text layer, if it can be trusted."""
    drawn: bool = False
    """Whether a raster follows."""
    error: str = ""
    """Why there is nothing: `page` (it cannot be loaded) or `memory`."""


def read_opening(body: bytes) -> Opening:
    """Read what is said of a document.

    Raises:
        ProcessFailed: it is not what the process says when it is well.
    """
    try:
        return msgspec.json.decode(body, type=Opening)
    except msgspec.MsgspecError as error:
        raise ProcessFailed("its answer cannot be read") from error


def read_facts(body: bytes) -> PageFacts:
    """Read what is said of a page.

    Raises:
        ProcessFailed: it is not what the process says when it is well.
    """
    try:
        return msgspec.json.decode(body, type=PageFacts)
    except msgspec.MsgspecError as error:
        raise ProcessFailed("its answer cannot be read") from error


def read_lines(said: list[Sides], raster: Raster) -> tuple[TextLine, ...]:
    """Make lines of the text layer, their boxes cut to the page.

    Raises:
        ProcessFailed: a line is not what the process says when it is well.
    """
    return tuple(_line(one, raster) for one in said)


def _line(one: Sides, raster: Raster) -> TextLine:
    """Check one line.

    Raises:
        ProcessFailed: it has no text, unprintable text or places that do not fit it.
    """
    if not one.text.strip() or not one.text.isprintable() or len(one.places) != len(one.text):
        raise ProcessFailed("a line is damaged")
    if not all(0 <= place <= 1 for place in one.places):
        raise ProcessFailed("a line has places outside it")
    points: list[Point] = [(one.box[0], one.box[1]), (one.box[2], one.box[3]), *(one.quad or ())]
    if not all(math.isfinite(value) for point in points for value in point):
        raise ProcessFailed("a line has no place")
    left, top, right, bottom = one.box
    box = Rect(
        min(max(left, 0.0), raster.width),
        min(max(top, 0.0), raster.height),
        min(max(right, 0.0), raster.width),
        min(max(bottom, 0.0), raster.height),
    )
    return TextLine(one.text, 1.0, box, one.quad, one.places)
