"""The child process that reads one PDF: opens it, renders pages and returns their text.

PDFium is not thread-safe, rendering a page cannot be interrupted, and PDFs can be hostile. So each
document gets a separate process with limited memory and time. The module process.py starts this
process, which imports only the standard library and PDFium's bindings.

Requests come in on standard input, answers go out on standard output. Each request or answer is a
frame: an unsigned 32-bit length (big-endian), then that number of bytes. The first request is the
PDF. Its answer is {"pages": 3} or {"error": "password"}. The request for a page is {"page": 0,
"pixels": true, "widgets": 0}. Its answer is {"width": ..., "height": ..., "lines": [...] or null,
"rules": [...], "widgets": [...], "drawn": true}. In a request, "widgets" is the maximum number of
form fields to return. If "drawn" is true, another frame with RGB pixels follows.
"""

from __future__ import annotations

import ctypes
import json
import sys
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, BinaryIO

from chalicelib.formats.pdf.frames import HEAD
from chalicelib.formats.pdf.geometry import PageView, Raster, raster_of
from chalicelib.formats.pdf.squares import drawn_squares
from chalicelib.formats.pdf.text_layer import read_layer
from chalicelib.formats.pdf.widgets import read_widgets

_ERRORS = {4: "password", 5: "security"}
_WHITE = 0xFFFFFFFF
_BGR = 2
_ANNOTATIONS = 0x01
_RGB_ORDER = 0x10
_CONTENT_FLAGS = _ANNOTATIONS | _RGB_ORDER
_DISPLAY = 0
# Kinds of forms in PDFium: of XFA alone, and of XFA with fields in the PDF.
_XFA_FORMS = (2, 3)


def serve(pdfium: Any, source: BinaryIO, target: BinaryIO) -> None:
    """Read requests from `source`, and write answers to `target`, until `source` ends."""
    reader = PdfReader(pdfium)
    _send(target, b"ready")
    data = _receive(source)
    _send(target, json.dumps(reader.open(data)).encode())
    while request := _receive(source):
        asked = json.loads(request)
        facts, pixels = reader.page(asked["page"], asked["pixels"], asked.get("widgets", 0))
        _send(target, json.dumps(facts, separators=(",", ":")).encode())
        if facts.get("drawn"):
            _send(target, pixels)


def _receive(source: BinaryIO) -> bytes:
    """Return the next frame; b"" if the parent process has closed the pipe."""
    head = source.read(HEAD.size)
    return source.read(HEAD.unpack(head)[0]) if len(head) == HEAD.size else b""


def _send(target: BinaryIO, body: Any) -> None:
    target.write(HEAD.pack(len(body)))
    target.write(body)
    target.flush()


class PdfReader:
    """One document, opened in PDFium."""

    def __init__(self, pdfium: Any) -> None:
        self._pdfium = pdfium
        self._document: Any = None
        self._forms: Any = None
        self._data = b""
        self._callbacks: Any = None
        # Without font folders the same page is rendered equally on every machine.
        self._folders = (ctypes.POINTER(ctypes.c_char) * 1)()
        config = pdfium.FPDF_LIBRARY_CONFIG(version=2, m_pUserFontPaths=self._folders)
        pdfium.FPDF_InitLibraryWithConfig(ctypes.byref(config))

    def open(self, data: bytes) -> dict[str, Any]:
        """Open a document; return the answer to the parent: the number of pages, or an error."""
        self._data = data
        self._document = self._pdfium.FPDF_LoadMemDocument64(data, len(data), None)
        if not self._document:
            return {"error": _ERRORS.get(self._pdfium.FPDF_GetLastError(), "format")}
        if self._pdfium.FPDF_GetFormType(self._document):
            self._callbacks = self._pdfium.FPDF_FORMFILLINFO(version=2)
            self._forms = self._pdfium.FPDFDOC_InitFormFillEnvironment(
                self._document, ctypes.byref(self._callbacks)
            )
        return {"pages": self._pdfium.FPDF_GetPageCount(self._document)}

    def page(
        self, number: int, needs_pixels: bool, most_widgets: int
    ) -> tuple[dict[str, Any], Any]:
        """Read a page; return the members of `PageFacts` (document.py), and RGB pixels or None.

        Args:
            number: number of the page, from 0.
            needs_pixels: whether to render the page even if its text layer is enough.
            most_widgets: maximum number of form fields to return; with 0, the squares that the
                page draws, which may be tick boxes, are not returned either.
        """
        widgets: list[Any] = []
        page = self._load(number, most_widgets, widgets)
        if not page:
            return {"error": "page"}, None
        try:
            facts, pixels = self._read(page, needs_pixels, has_squares=most_widgets > 0)
            if number == 0 and self._pdfium.FPDF_GetFormType(self._document) in _XFA_FORMS:
                facts["notes"] = [*facts.get("notes", ()), "xfa"]
            return facts | ({"widgets": widgets} if widgets else {}), pixels
        finally:
            self._pdfium.FPDF_ClosePage(page)

    def _read(
        self, page: Any, needs_pixels: bool, *, has_squares: bool
    ) -> tuple[dict[str, Any], Any]:
        width = self._pdfium.FPDF_GetPageWidthF(page)
        height = self._pdfium.FPDF_GetPageHeightF(page)
        facts: dict[str, Any] = {"width": width, "height": height, "lines": None}
        try:
            raster = raster_of(width, height)
        except ValueError:
            return facts, None
        view = self._view(page, raster)
        draw = cache(partial(self._draw, page, raster))
        layer = read_layer(self._pdfium, page, view, draw) if view else None
        if layer is not None:
            facts |= layer._asdict()
            facts["squares"] = drawn_squares(layer.rules, raster, draw) if has_squares else []
        if needs_pixels or layer is None or layer.lines is None or layer.pictures:
            pixels = draw()
            if pixels is None:
                return {"error": "memory"}, None
            facts["drawn"] = True
            return facts, pixels
        return facts, None

    def _load(self, number: int, most_widgets: int, widgets: list[Any]) -> Any:
        """Load a page, append its form fields to `widgets`, and draw their values into the page."""
        # Annotations and filled fields are drawn only when they are part of the content.
        page = self._pdfium.FPDF_LoadPage(self._document, number)
        if not page or self._pdfium.FPDFPage_GetAnnotCount(page) < 1:
            return page
        if self._forms:
            # Renders fields that have a value and no appearance. No script runs: PDFium is built
            # without JavaScript, and the event for an opened document is not sent.
            self._pdfium.FORM_OnAfterLoadPage(page, self._forms)
            # Read the fields now, because flattening turns them into drawings.
            widgets += self._widgets(page, most_widgets)
        self._pdfium.FPDFPage_Flatten(page, _DISPLAY)
        if self._forms:
            self._pdfium.FORM_OnBeforeClosePage(page, self._forms)
        self._pdfium.FPDF_ClosePage(page)
        return self._pdfium.FPDF_LoadPage(self._document, number)

    def _widgets(self, page: Any, limit: int) -> list[list[Any]]:
        """Return up to `limit` form fields of a page. Call this before the fields are drawn."""
        width = self._pdfium.FPDF_GetPageWidthF(page)
        height = self._pdfium.FPDF_GetPageHeightF(page)
        with suppress(ValueError):
            view = self._view(page, raster_of(width, height)) if limit else None
            if view:
                return read_widgets(self._pdfium, self._forms, page, view, limit)
        return []

    def _view(self, page: Any, raster: Raster) -> PageView | None:
        box = self._pdfium.FS_RECTF()
        if not self._pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(box)):
            return None
        turns = self._pdfium.FPDFPage_GetRotation(page) % 4
        return PageView(box.left, box.bottom, box.right, box.top, turns, raster)

    def _draw(self, page: Any, raster: Raster) -> Any:
        row = 3 * raster.width
        pixels = ctypes.create_string_buffer(row * raster.height)
        bitmap = self._pdfium.FPDFBitmap_CreateEx(
            raster.width, raster.height, _BGR, ctypes.byref(pixels), row
        )
        if not bitmap:
            return None
        self._pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, raster.width, raster.height, _WHITE)
        self._pdfium.FPDF_RenderPageBitmap(
            bitmap, page, 0, 0, raster.width, raster.height, 0, _CONTENT_FLAGS
        )
        self._pdfium.FPDFBitmap_Destroy(bitmap)
        return pixels


def limit(memory: int, seconds: int) -> None:
    """Limit the memory and processor time of this process, enforced by the operating system.

    Args:
        memory: Bytes of address space.
        seconds: Seconds of processor time.
    """
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
    ):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Other systems than Linux can reject a limit that they do not know.
        with suppress(ValueError):
            resource.setrlimit(kind, (bound, bound))


def main() -> None:
    """Read requests from standard input, and write the answers to standard output.

    The command line arguments are the memory limit in bytes, and the limit of processor time in
    seconds.
    """
    # Imported before the limits apply: they would keep the interpreter from writing its bytecode
    # cache, and later processes would start more slowly.
    pdfium = import_module("pypdfium2_raw")
    limit(int(sys.argv[1]), int(sys.argv[2]))
    serve(pdfium, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
