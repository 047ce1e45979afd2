"""A PDF, page by page, read in a process of its own."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

from chalicelib.domain.documents.page import Page
from chalicelib.errors import BadRequest, TimedOut
from chalicelib.formats.pdf.answers import read_facts, read_lines, read_opening
from chalicelib.formats.pdf.frames import OutOfTime, ProcessFailed
from chalicelib.formats.pdf.geometry import Raster, raster_of
from chalicelib.formats.pdf.process import START_SECONDS, PdfProcess
from chalicelib.formats.pdf.rules import broken, refused, require_pages, too_slow

if TYPE_CHECKING:
    from typing import Self

    from chalicelib.domain.documents.page import Pixels

_NO_START = "The reader of PDFs did not start. Send the document again."
_NO_TIME = "The PDF was not opened in the time that was left. Send it again, or a smaller one."
_REASONS = {"memory": "takes too much memory", "page": "is damaged"}


class PdfDocument:
    """A PDF that is open; `close` ends its process."""

    is_picture = False

    def __init__(
        self, data: bytes, max_pages: int, page_seconds: float, seconds_left: float
    ) -> None:
        """Open a PDF and count its pages.

        Args:
            data: The file.
            max_pages: Most pages it may have.
            page_seconds: How long opening it, and each page of it, may take.
            seconds_left: The time there is until it must be open.

        Raises:
            BadRequest: it cannot be read, needs a password, or has no or too many pages.
            TimedOut: the process that reads it does not start, or no time is left.
        """
        end = time.monotonic() + seconds_left
        self._seconds = page_seconds
        self._lock = threading.Lock()
        self._failure: BadRequest | None = None
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
        """End the process; a thread that waits for a page gets an error."""
        self._process.close()
        with self._lock:
            self._failure = self._failure or broken("it has been closed")
            self._process.release()

    def page(self, number: int, needs_pixels: bool) -> Page:
        """Read a page; threads wait for each other.

        Args:
            number: From 1.
            needs_pixels: Whether the page is drawn although its text layer is enough.

        Raises:
            BadRequest: the page cannot be read, or not in time; so is every page after it.
            IndexError: there is no such page.
        """
        if not 1 <= number <= self.page_count:
            raise IndexError(f"page {number} of {self.page_count}")
        with self._lock:
            if self._failure is not None:
                raise BadRequest(self._failure.message, self._failure.code)
            try:
                return self._page(number, needs_pixels)
            except BadRequest as error:
                raise self._fail(error) from None
            except OutOfTime as error:
                raise self._fail(too_slow(f"Page {number} of the PDF", self._seconds)) from error
            except ProcessFailed as error:
                damage = broken(f"page {number} is damaged or takes too much memory")
                raise self._fail(damage) from error

    def _fail(self, error: BadRequest) -> BadRequest:
        """End the process; every later page fails with the same error."""
        self._failure = error
        self._process.close()
        return error

    def _open(self, data: bytes, max_pages: int, end: float) -> int:
        """Hand the document over and return its pages.

        Args:
            data: The file.
            max_pages: Most pages it may have.
            end: The `time.monotonic()` at which the caller's time is up.

        Raises:
            BadRequest: it cannot be read, needs a password, or has no or too many pages.
            TimedOut: the process does not start, or no time is left.
        """
        try:
            self._process.frames.receive(min(time.monotonic() + START_SECONDS, end))
        except (OutOfTime, ProcessFailed) as error:
            raise TimedOut(_NO_TIME if time.monotonic() >= end else _NO_START) from error
        deadline = min(time.monotonic() + self._seconds, end)
        try:
            self._process.frames.send(data, deadline)
            opening = read_opening(self._process.frames.receive(deadline))
        except OutOfTime as error:
            if deadline == end:
                raise TimedOut(_NO_TIME) from error
            raise too_slow("The PDF", self._seconds) from error
        except ProcessFailed as error:
            raise broken("it is damaged or takes too much memory") from error
        if opening.error:
            raise refused(opening.error)
        require_pages(opening.pages, max_pages)
        return opening.pages

    def _page(self, number: int, needs_pixels: bool) -> Page:
        """Ask for a page and check the answer.

        Raises:
            BadRequest: PDFium does not load it, or it has no size.
            ProcessFailed: the process has ended or gone wrong.
            OutOfTime: it takes too long.
        """
        deadline = time.monotonic() + self._seconds
        asked = {"page": number - 1, "pixels": needs_pixels}
        self._process.frames.send(json.dumps(asked).encode(), deadline)
        facts = read_facts(self._process.frames.receive(deadline))
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
        return Page(number, raster.width, raster.height, raster.scale, pixels, layer)

    def _pixels(self, raster: Raster, deadline: float) -> Pixels:
        """Read the raster of a page.

        Raises:
            ProcessFailed: the process has ended or sends another size.
            OutOfTime: it takes too long.
        """
        import numpy as np

        pixels = np.empty((raster.height, raster.width, 3), np.uint8)
        self._process.frames.receive_into(pixels.data, deadline)
        return pixels


def _start(cpu_seconds: int) -> PdfProcess:
    """Start the process that reads a PDF.

    Raises:
        TimedOut: the system has no place for it.
    """
    try:
        return PdfProcess(cpu_seconds)
    except OSError as error:
        raise TimedOut(_NO_START) from error
