"""Reads a PDF page by page in a child process. The answers of the process are checked."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from chalicelib.domain.common.decoding import prepare
from chalicelib.domain.documents.page import (
    FormWidget,
    NoteCode,
    Page,
    Point,
    Quad,
    Rect,
    Square,
    TextLine,
)
from chalicelib.errors import BadRequest, MachineBusy, ServiceError, TimedOut
from chalicelib.formats.pdf.frames import OutOfTime, ProcessFailed, ProcessorTime
from chalicelib.formats.pdf.geometry import Raster, raster_of
from chalicelib.formats.pdf.objects import MAX_RULES
from chalicelib.formats.pdf.process import START_SECONDS, PdfProcess

if TYPE_CHECKING:
    from typing import Self

    from chalicelib.domain.common.arrays import Pixels

Answer = TypeVar("Answer", bound=msgspec.Struct)

_REFUSALS = {
    "password": (
        "The PDF needs a password. Remove the password and send it again.",
        "document_password",
    ),
    "security": (
        "The PDF is encrypted in a way that is not supported. Save it without protection and "
        "send that.",
        "document_password",
    ),
}


def require_pages(count: int, limit: int) -> None:
    """Raise BadRequest if a PDF has no pages or too many, before any page is read.

    The error text names the limit, the number of pages and the remedy.
    """
    if count < 1:
        raise broken("it has no pages")
    if count > limit:
        raise BadRequest(
            f"The PDF has {count} pages; at most {limit} are allowed for this task. "
            "Split it and send the parts.",
            "too_many_pages",
        )


def refused(error: str) -> BadRequest:
    """Return the error for a PDF that cannot be opened. `error` is the value of `Opening.error`."""
    if error in _REFUSALS:
        return BadRequest(*_REFUSALS[error])
    return broken("it is damaged or truncated")


def broken(reason: str) -> BadRequest:
    """Return the error for a PDF that cannot be read. `reason` becomes part of the error text."""
    return BadRequest(
        f"The PDF cannot be read: {reason}. Save it again as PDF and send that, "
        "or send its pages as PNG or JPEG.",
        "broken_document",
    )


def too_slow(subject: str, seconds: float) -> BadRequest:
    """Return the error for a document or page that takes too long to read. `subject` names it."""
    return BadRequest(
        f"{subject} could not be read within {seconds:g} seconds. "
        "Simplify it, or send it as PNG or JPEG.",
        "document_too_slow",
    )


# Answers of the process are validated because it worked on a possibly hostile file.


class Opening(msgspec.Struct, forbid_unknown_fields=True):
    """The answer of the child process to the request to open a document."""

    pages: int = 0
    """Number of pages."""
    error: str = ""
    """Why the document cannot be opened: `password`, `security` or `format`."""


class Sides(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A line of text in the text layer. Its coordinates are pixels of the page's raster."""

    text: str
    """Words separated by single spaces."""
    box: tuple[float, float, float, float]
    """Smallest x, smallest y, largest x, largest y."""
    quad: Quad | None
    """Corners of the line if it is not upright, otherwise None."""
    places: tuple[float, ...]
    """Centre of each character along the line, 0 to 1."""
    bold: bool = False


class Widget(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A form field of the PDF. Its box is in pixels of the page's raster."""

    name: str
    kind: Literal["text", "checkbox", "radio", "choice", "signature"]
    value: str
    checked: bool | None
    min_x: float
    min_y: float
    max_x: float
    max_y: float


class PageFacts(msgspec.Struct, forbid_unknown_fields=True):
    """The answer of the child process about one page."""

    width: float = 0.0
    """Width of the page as displayed, in points."""
    height: float = 0.0
    """Height of the page as displayed, in points."""
    lines: list[Sides] | None = None
    """Lines of the text layer; None if the page has no text layer or an unreliable one."""
    rules: list[tuple[float, float, float, float]] = []
    """Lines drawn on a page with a text layer.

    Each has smallest x, smallest y, largest x and largest y.
    """
    squares: list[tuple[float, float, float, float, float]] = []
    """Squares drawn on a page with a text layer, if form fields are requested.

    Each has smallest x, smallest y, largest x, largest y, and the fraction of ink inside.
    """
    pictures: list[tuple[float, float, float, float]] = []
    """Images on which the text layer has no text.

    Each has smallest x, smallest y, largest x and largest y.
    """
    widgets: list[Widget] = []
    """Form fields of the page, if requested."""
    notes: list[NoteCode] = []
    """Codes of what the text layer leaves out; see chalicelib/domain/documents/page.py."""
    drawn: bool = False
    """Whether a frame with the pixels follows."""
    error: str = ""
    """Why the page cannot be read: `page` (it cannot be loaded) or `memory`; otherwise empty."""


def read_answer(body: bytes, type_: type[Answer]) -> Answer:
    """Decode an answer of the child process; raise ProcessFailed if it is not valid."""
    prepare(type_)
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.MsgspecError as error:
        raise ProcessFailed("its answer cannot be read") from error


def read_lines(lines: list[Sides], raster: Raster) -> tuple[TextLine, ...]:
    """Convert lines of the text layer; clip the boxes of the lines to the page.

    Raises:
        ProcessFailed: a line is not valid.
    """
    return tuple(_line(one, raster) for one in lines)


def read_rules(rules: list[tuple[float, float, float, float]]) -> tuple[Rect, ...]:
    """Convert the drawn lines of a page to `Rect`; raise ProcessFailed if a line is not valid."""
    if len(rules) > MAX_RULES or not all(math.isfinite(side) for sides in rules for side in sides):
        raise ProcessFailed("a ruled line is damaged")
    return tuple(Rect(*sides) for sides in rules)


def read_squares(squares: list[tuple[float, float, float, float, float]]) -> tuple[Square, ...]:
    """Convert the drawn squares of a page; raise ProcessFailed if a square is not valid."""
    read_rules([each[:4] for each in squares])
    if not all(0 <= each[4] <= 1 for each in squares):
        raise ProcessFailed("a drawn square is damaged")
    return tuple(Square(Rect(*each[:4]), each[4]) for each in squares)


def read_widgets(widgets: list[Widget]) -> tuple[FormWidget, ...]:
    """Convert the form fields of a page; raise ProcessFailed if a box is not finite."""
    every = [
        FormWidget(one.name, one.kind, one.value, one.checked, Rect(*sides))
        for one in widgets
        for sides in [(one.min_x, one.min_y, one.max_x, one.max_y)]
        if all(map(math.isfinite, sides))
    ]
    if len(every) < len(widgets):
        raise ProcessFailed("a field of the form has no place")
    return tuple(every)


def _line(run: Sides, raster: Raster) -> TextLine:
    if not run.text.strip() or not run.text.isprintable() or len(run.places) != len(run.text):
        raise ProcessFailed("a line is damaged")
    if not all(0 <= place <= 1 for place in run.places):
        raise ProcessFailed("a line has places outside it")
    points: list[Point] = [(run.box[0], run.box[1]), (run.box[2], run.box[3]), *(run.quad or ())]
    if not all(math.isfinite(value) for point in points for value in point):
        raise ProcessFailed("a line has no place")
    left, top, right, bottom = run.box
    box = Rect(
        min(max(left, 0.0), raster.width),
        min(max(top, 0.0), raster.height),
        min(max(right, 0.0), raster.width),
        min(max(bottom, 0.0), raster.height),
    )
    return TextLine(run.text, 1.0, box, run.quad, run.places, is_bold=run.bold)


_NO_START = "The reader of PDFs did not start. Send the document again."
_NO_TIME = "The PDF was not opened in the time that was left. Send it again, or a smaller one."
_REASONS = {"memory": "takes too much memory", "page": "is damaged"}


class PdfDocument:
    """An open PDF, read by a child process. `close` ends the process."""

    is_picture = False

    def __init__(
        self, data: bytes, max_pages: int, page_seconds: float, seconds_left: float
    ) -> None:
        """Open a PDF and count its pages.

        Args:
            data: Content of the file.
            max_pages: Maximum number of pages.
            page_seconds: Maximum processor time to open the document, and to read each page, in
                seconds.
            seconds_left: Maximum elapsed time to open the document, in seconds.

        Raises:
            BadRequest: the PDF cannot be read, is encrypted, or has no pages or too many pages.
            MachineBusy: the child process does not get enough processor time.
            TimedOut: the child process does not start, or no time is left.
        """
        end = time.monotonic() + seconds_left
        self._seconds = page_seconds
        self._lock = threading.Lock()
        self._failure: Callable[[], ServiceError] | None = None
        self._process = _start(int((max_pages + 1) * page_seconds) + 5)
        try:
            self.page_count = self._open(data, max_pages, end)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process. Threads that wait for a page get an error."""
        self._process.close()
        with self._lock:
            self._failure = self._failure or (lambda: broken("it has been closed"))
            self._process.release()

    def page(self, number: int, needs_pixels: bool, most_widgets: int = 0) -> Page:
        """Read a page. If several threads call this, they read one after the other.

        Args:
            number: Number of the page, from 1.
            needs_pixels: Whether to render the page even if its text layer is enough.
            most_widgets: Maximum number of form fields to read from the page; with 0, drawn
                squares are not read either.

        Raises:
            BadRequest: the page is damaged, or cannot be read in time. All later calls raise the
                same error.
            MachineBusy: the child process does not get enough processor time.
            IndexError: the document has no such page.
        """
        if not 1 <= number <= self.page_count:
            raise IndexError(f"page {number} of {self.page_count}")
        with self._lock:
            if self._failure is not None:
                raise self._failure()
            deadline = self._deadline()
            try:
                return self._page(number, needs_pixels, most_widgets, deadline)
            except BadRequest as error:
                message, code = error.message, error.code
                raise self._fail(lambda: BadRequest(message, code)) from None
            except OutOfTime as error:
                what = f"Page {number} of the PDF"
                if deadline.is_starved:
                    raise self._fail(lambda: MachineBusy(what)) from error
                raise self._fail(lambda: too_slow(what, self._seconds)) from error
            except ProcessFailed as error:
                damage = f"page {number} is damaged or takes too much memory"
                raise self._fail(lambda: broken(damage)) from error

    def _fail(self, make: Callable[[], ServiceError]) -> ServiceError:
        # The process has ended, so every later page fails with the same error.
        self._failure = make
        self._process.close()
        return make()

    def _deadline(self, latest: float = math.inf) -> ProcessorTime:
        return ProcessorTime(self._seconds, self._process.processor_seconds, latest)

    def _open(self, data: bytes, max_pages: int, end: float) -> int:
        """Send the document to the child process; return its number of pages."""
        try:
            self._process.frames.receive(min(time.monotonic() + START_SECONDS, end))
        except (OutOfTime, ProcessFailed) as error:
            raise TimedOut(_NO_TIME if time.monotonic() >= end else _NO_START) from error
        deadline = self._deadline(end)
        try:
            self._process.frames.send(data, deadline)
            opening = read_answer(self._process.frames.receive(deadline), Opening)
        except OutOfTime as error:
            if time.monotonic() >= end:
                raise TimedOut(_NO_TIME) from error
            if deadline.is_starved:
                raise MachineBusy("The PDF") from error
            raise too_slow("The PDF", self._seconds) from error
        except ProcessFailed as error:
            raise broken("it is damaged or takes too much memory") from error
        if opening.error:
            raise refused(opening.error)
        require_pages(opening.pages, max_pages)
        return opening.pages

    def _page(
        self, number: int, needs_pixels: bool, most_widgets: int, deadline: ProcessorTime
    ) -> Page:
        asked = {"page": number - 1, "pixels": needs_pixels, "widgets": most_widgets}
        self._process.frames.send(json.dumps(asked).encode(), deadline)
        facts = read_answer(self._process.frames.receive(deadline), PageFacts)
        if facts.error:
            raise broken(f"page {number} {_REASONS.get(facts.error, 'is damaged')}")
        try:
            raster = raster_of(facts.width, facts.height)
        except ValueError as error:
            raise broken(f"page {number} has no size: {error}") from error
        layer = None if facts.lines is None else read_lines(facts.lines, raster)
        pixels = self._pixels(raster, deadline) if facts.drawn else None
        if pixels is None and (layer is None or needs_pixels):
            raise ProcessFailed("the raster is missing")
        rules = None if layer is None else read_rules(facts.rules)
        widgets = read_widgets(facts.widgets)
        pictures = () if pixels is None else read_rules(facts.pictures)
        return Page(
            number,
            raster.width,
            raster.height,
            raster.scale,
            pixels,
            layer,
            rules,
            widgets,
            pictures,
            tuple(facts.notes),
            read_squares(facts.squares),
        )

    def _pixels(self, raster: Raster, deadline: ProcessorTime) -> Pixels:
        import numpy as np

        pixels = np.empty((raster.height, raster.width, 3), np.uint8)
        self._process.frames.receive_into(pixels.data, deadline)
        return pixels


def _start(cpu_seconds: int) -> PdfProcess:
    try:
        return PdfProcess(cpu_seconds)
    except OSError as error:
        raise TimedOut(_NO_START) from error
