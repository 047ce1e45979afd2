"""Reads text, tables, contacts and forms in images and PDFs. Spec: POST /v2/vision/ocr.

A few threads read the pages of a document within a time limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

from chalicelib import journal, log
from chalicelib.domain.common.limits import (
    MAX_OCR_BYTES,
    MAX_OCR_LINES,
    MAX_OCR_PAGES,
    MAX_OCR_WORDS,
)
from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.findings import Table
from chalicelib.domain.documents.form_template import FORM_TYPES, FormTemplate
from chalicelib.domain.documents.form_widgets import (
    MAX_FORM_WIDGETS,
    PlacedWidget,
    placed_widgets,
)
from chalicelib.domain.documents.layout import FURNITURE, MARKDOWN
from chalicelib.domain.documents.ocr import (
    CONTACT,
    FORM,
    TEXT,
    DocumentFindings,
    Finding,
    OcrRequest,
    PageFindings,
    best_fields,
    count_line_words,
    numbered_through,
    ordered,
    with_roles,
    with_tick,
    without_content,
)
from chalicelib.domain.documents.page_work import PageWork
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import OCR, ServedModel
from chalicelib.engines.memory import bound_memory, release_memory
from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
    MissingParameter,
    PrebuiltNotInstalled,
)
from chalicelib.stores.accounts.in_flight import DOCUMENTS, InFlight
from chalicelib.stores.fetching.page_images import PageImageStore
from chalicelib.stores.fetching.sample_files import DOWNLOAD_SECONDS, SampleFiles

if TYPE_CHECKING:
    from chalicelib.domain.documents.page import Page, ReadPage
    from chalicelib.engines.ocr.learning.examples import PackedPage
    from chalicelib.engines.ocr.pool import OcrPool
    from chalicelib.engines.ocr.tasks import Tools
    from chalicelib.formats.documents import Document

# Calls whose pages are read at the same time; the pages of other calls wait.
CALLS = 2
_WHAT = "the document"
Read = TypeVar("Read")


class OcrService:
    """Reads documents with the prebuilt models of type OCR."""

    def __init__(
        self,
        samples: SampleFiles,
        page_images: PageImageStore,
        engines: OcrPool,
        in_flight: InFlight,
        threads: int,
        limit_seconds: float,
    ) -> None:
        """Store the dependencies.

        `threads` pages of one document are read at the same time. `limit_seconds` is the time limit
        of a call; it is only used in error texts.
        """
        self._samples = samples
        self._page_images = page_images
        self._engines = engines
        self._in_flight = in_flight
        self._threads = max(1, threads)
        self._limit_seconds = limit_seconds
        self._slots = threading.Semaphore(CALLS * self._threads)
        bound_memory()

    def warm(self) -> None:
        """Load all networks before the first call; raise OcrNotInstalled if one is damaged."""
        import_module("chalicelib.formats.documents")
        import_module("chalicelib.engines.ocr.tasks")
        self._engines.warm()

    def require_networks(self, model: ServedModel) -> None:
        """Raise PrebuiltNotInstalled if the networks of an OCR model are missing."""
        self._load(model, DOCUMENTED)

    @staticmethod
    def template(
        source: bytes | str | Mapping[str, object] | None, form_type: str | None
    ) -> FormTemplate:
        """Return the form template of a request, or the built-in template of a standard form.

        Raises:
            MissingParameter: neither `source` nor `form_type` is given.
            BadRequest: both `source` and `form_type` are given.
            InvalidParameter: the template is not valid, or the form type is unknown.
        """
        if source is not None and form_type is not None:
            raise BadRequest(
                "Send either 'formType' or 'formTemplate'; the call has both.",
                "duplicated_parameter",
            )
        if source is not None:
            from chalicelib.formats.templates.form_template import read_template

            return read_template(source)
        if form_type is None:
            raise MissingParameter(
                "formType",
                "The task 'form' needs either the 'formType' or the 'formTemplate' field.",
            )
        if form_type not in FORM_TYPES:
            shown = f"'{form_type[:40]}'" if form_type.isprintable() else "a text"
            raise InvalidParameter("formType", f"{shown} is not one of {', '.join(FORM_TYPES)}.")
        from chalicelib.formats.templates.form_template import standard_template

        return standard_template(form_type)

    def read(
        self,
        model: ServedModel,
        sample: Sample,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> DocumentFindings:
        """Read a document, and return the findings that the request asks for.

        `seconds_left` returns the remaining time of the call.

        Raises:
            InvalidParameter: the model is not of type OCR.
            BadRequest: the document is damaged, encrypted, empty, or over a limit of pixels, pages
                or words; or the URL cannot be read.
            TooLarge: the file has more bytes than the limit.
            UnsupportedType: the file is not PNG, JPEG or PDF.
            TimedOut: the time is up; the message names the page that was reached.
            PrebuiltNotInstalled: the files of the engine are missing.
            RateExceeded: the account has the maximum number of running calls.
        """
        model.require_type((OCR,))
        tools = self._load(model, request.alphabet)
        with self._in_flight.running(sample.account_id, DOCUMENTS):
            pages = self._read(model, sample, request, tools, seconds_left)
        found = _finish(pages, request)
        if not request.page_images:
            return found
        # Stored once every page has been read, so that a refused call leaves no image.
        images = {page.size.number: page.image for page in pages if page.image is not None}
        urls = self._page_images.put(sample.account_id, images)
        return replace(
            found, pages=tuple(replace(page.size, image=urls[page.size.number]) for page in pages)
        )

    def read_content(
        self,
        model: ServedModel,
        content: bytes,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> DocumentFindings:
        """Read a document like `read`, but do not count this as a running call of the account."""
        model.require_type((OCR,))
        tools = self._load(model, request.alphabet)
        return _finish(
            self._read(model, Sample(content=content), request, tools, seconds_left), request
        )

    def packed_pages(
        self, model: ServedModel, content: bytes, seconds_left: Callable[[], float]
    ) -> list[PackedPage]:
        """Read the pages of a form from which a template is learned. Raise the errors of `read`."""
        model.require_type((OCR,))
        tools, request = self._load(model, DOCUMENTED), OcrRequest(FORM)

        def read(document: Document, number: int, work: PageWork) -> PackedPage:
            return _pack_page(document, number, request, tools, work)

        try:
            return self._read_pages(content, request.task, read, seconds_left)
        except OcrNotInstalled as missing:
            raise PrebuiltNotInstalled(model.model_id) from missing
        finally:
            release_memory()

    def _read(
        self,
        model: ServedModel,
        sample: Sample,
        request: OcrRequest,
        tools: Tools,
        seconds_left: Callable[[], float],
    ) -> list[PageFindings]:
        seconds = min(DOWNLOAD_SECONDS, seconds_left())
        content = self._samples.content(sample, MAX_OCR_BYTES, _WHAT, seconds)
        began = time.monotonic()

        def read(document: Document, number: int, work: PageWork) -> PageFindings:
            return _read_page(document, number, request, tools, work)

        try:
            pages = self._read_pages(content, request.task, read, seconds_left)
        except OcrNotInstalled as missing:
            raise PrebuiltNotInstalled(model.model_id) from missing
        finally:
            # Reading a page leaves hundreds of megabytes of free memory in the heaps.
            release_memory()
        journal.document_read(request.task, len(pages), time.monotonic() - began)
        return pages

    def _read_pages(
        self,
        content: bytes,
        task: str,
        read_page: Callable[[Document, int, PageWork], Read],
        seconds_left: Callable[[], float],
    ) -> list[Read]:
        from chalicelib.formats.documents import open_document

        most = MAX_OCR_PAGES[task]
        with open_document(content, most, seconds_left=seconds_left()) as document:
            work = PageWork(document.page_count, seconds_left(), self._limit_seconds, self._slots)
            threads = ThreadPoolExecutor(self._threads, "page")
            try:
                read = log.with_context(lambda number: read_page(document, number, work))
                return work.run(threads, read)
            finally:
                # Not waited for: after an error the threads end at their next check.
                threads.shutdown(wait=False, cancel_futures=True)

    def _load(self, model: ServedModel, alphabet: str) -> Tools:
        from chalicelib.engines.ocr.tasks import Tools

        try:
            return Tools(self._engines.engine(alphabet), self._engines.structure())
        except OcrNotInstalled as missing:
            raise PrebuiltNotInstalled(model.model_id) from missing


def _read_page(
    document: Document, number: int, request: OcrRequest, tools: Tools, work: PageWork
) -> PageFindings:
    """Read one page and find the items that the request asks for."""
    from chalicelib.engines.ocr.reading import page_notes, read_page
    from chalicelib.engines.ocr.tasks import find_items, lay_out

    if request.page_images and document.is_picture:
        raise BadRequest(
            "'pageImages' is true, and the file is an image; pages of PDFs only are returned as "
            "images. Leave 'pageImages' out, or send a PDF.",
            "page_images_of_image",
        )
    needs_pixels = request.needs_pixels or request.page_images
    opened = _open_page(document, number, request, needs_pixels=needs_pixels)
    image = _draw_page(opened) if request.page_images else None
    if needs_pixels and not request.needs_pixels and _needs_no_pixels(opened):
        # Drawn for the image only; the findings are those of a call without images.
        opened = replace(opened, pixels=None)
    page = read_page(opened, tools.engine, work.check)
    _check_words(page, request, is_picture=document.is_picture)
    items = find_items(page, request, tools, work.check)
    places, blocks = lay_out(page, items, request, tools, work.check)
    notes = page_notes(page) if request.has_roles else ()
    # The pixels are released here; otherwise a document of many pages would exceed the memory.
    view = without_content(page)
    findings = tuple(
        Finding(view, position, item, place)
        for position, (item, place) in enumerate(zip_longest(items, places))
    )
    return PageFindings(findings, view, page.unread, tuple(blocks), image, notes)


def _open_page(document: Document, number: int, request: OcrRequest, *, needs_pixels: bool) -> Page:
    """Open a page, for the task `form` with the fields and tick boxes of its form."""
    is_needed = request.form_fields or request.task == FORM
    # One more than is allowed, so that a document that has too many is noticed.
    return document.page(number, needs_pixels, MAX_FORM_WIDGETS + 1 if is_needed else 0)


def _needs_no_pixels(page: Page) -> bool:
    return page.layer is not None and not page.pictures


def _draw_page(page: Page) -> bytes | None:
    from chalicelib.formats.pictures.thumbnails import draw_page_image

    return None if page.pixels is None else draw_page_image(page.pixels)


def _pack_page(
    document: Document, number: int, request: OcrRequest, tools: Tools, work: PageWork
) -> PackedPage:
    """Read one page like the task `form`, and return the result in compressed form."""
    from chalicelib.engines.ocr.forms.single_boxes import with_single_boxes
    from chalicelib.engines.ocr.learning.examples import PackedPage
    from chalicelib.engines.ocr.reading import read_page

    opened = _open_page(document, number, request, needs_pixels=request.needs_pixels)
    page = read_page(opened, tools.engine, work.check)
    _check_words(page, request, is_picture=document.is_picture)
    return PackedPage(with_single_boxes(page, tools.engine, work.check))


def _check_words(page: ReadPage, request: OcrRequest, *, is_picture: bool) -> None:
    """Raise BadRequest if an image has too many words, or a page too many lines for the task."""
    count, lines = count_line_words(page.lines), len(page.lines)
    if is_picture and count > MAX_OCR_WORDS:
        raise BadRequest(
            f"The image has {count} words; at most {MAX_OCR_WORDS} are allowed in an image. "
            "Cut it into several images, or send a PDF.",
            "too_many_words",
        )
    if request.task in (CONTACT, FORM) and lines > MAX_OCR_LINES:
        raise BadRequest(
            f"Page {page.page.number} has {lines} lines of text; at most {MAX_OCR_LINES} are "
            f"allowed for the task '{request.task}'. Send the part that matters, or use task "
            "'text'.",
            "too_many_lines",
        )


def _finish(pages: Sequence[PageFindings], request: OcrRequest) -> DocumentFindings:
    """Combine the findings of all pages into the findings of the document."""
    from chalicelib.engines.ocr.layout.roles import block_roles
    from chalicelib.engines.ocr.layout.writing import write

    blocks = [page.blocks for page in pages]
    roles = block_roles(blocks, [page.view.height for page in pages])
    if request.has_roles:
        pages = [with_roles(page, own) for page, own in zip(pages, roles, strict=True)]
    findings = _named(numbered_through(pages), request)
    if request.form_fields:
        findings = tuple(map(with_tick, findings))
    sizes = tuple(page.size for page in pages) if request.has_pages else None
    widgets = _widgets(pages) if request.form_fields else None
    notes = tuple(note for page in pages for note in page.notes) if request.has_roles else None
    if request.task != TEXT:
        return DocumentFindings(findings, pages=sizes, form_widgets=widgets, notes=notes)
    unread = tuple(box for page in pages for box in page.unread_boxes) if request.layout else None
    if request.output == MARKDOWN and not request.page_furniture:
        blocks = [
            tuple(block for block, role in zip(page, own, strict=True) if role not in FURNITURE)
            for page, own in zip(blocks, roles, strict=True)
        ]
    text = write(blocks, request.output) if request.output else None
    return DocumentFindings(findings, unread, text, sizes, widgets, notes)


def _widgets(pages: Sequence[PageFindings]) -> tuple[PlacedWidget, ...]:
    """Return the form fields that the PDF defines; raise BadRequest if there are too many."""
    found = tuple(placed_widgets([page.view.page for page in pages]))
    if len(found) > MAX_FORM_WIDGETS:
        raise BadRequest(
            f"The form of the PDF has more than {MAX_FORM_WIDGETS} fields; at most "
            f"{MAX_FORM_WIDGETS} are returned by formFields. Split it and send the parts.",
            "too_many_form_fields",
        )
    return found


def _named(findings: Sequence[Finding], request: OcrRequest) -> tuple[Finding, ...]:
    """Name the tables, choose each entity's best value, and sort the findings by probability."""
    from chalicelib.engines.ocr.tables.links import PagePart
    from chalicelib.engines.ocr.tasks import name_tables

    tables = [each for each in findings if isinstance(each.item, Table)]
    parts = [PagePart(each.view, each.item) for each in findings if isinstance(each.item, Table)]
    others = [each for each in findings if not isinstance(each.item, Table)]
    if request.template is not None:
        others = list(best_fields(others))
    # All pages at once, because a table may continue on the next page.
    blocks = name_tables(parts, request)
    named = [replace(each, item=block) for each, block in zip(tables, blocks, strict=True)]
    return ordered([*others, *named])
