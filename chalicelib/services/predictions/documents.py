"""Reads pictures and PDFs: text, tables, contacts, forms. Spec: POST /v2/vision/ocr.

Pages are read by a few threads while the time is watched; a page's pixels live only as long as it
is read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING

from chalicelib import journal, log
from chalicelib.domain.common.limits import (
    MAX_OCR_BYTES,
    MAX_OCR_LINES,
    MAX_OCR_PAGES,
    MAX_OCR_WORDS,
)
from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.findings import Table
from chalicelib.domain.documents.form_template import FORM_TYPES
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
    without_content,
)
from chalicelib.domain.documents.page_work import PageWork
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import OCR, ServedModel
from chalicelib.engines.memory import bound_memory, give_back
from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
    MissingParameter,
    PrebuiltNotInstalled,
)
from chalicelib.stores.accounts.in_flight import DOCUMENTS, InFlight
from chalicelib.stores.fetching.sample_files import DOWNLOAD_SECONDS, SampleFiles

if TYPE_CHECKING:
    from chalicelib.domain.documents.form_template import FormTemplate
    from chalicelib.domain.documents.page import ReadPage
    from chalicelib.engines.ocr.pool import OcrPool
    from chalicelib.engines.ocr.tasks import Tools
    from chalicelib.formats.documents import Document

CALLS = 2
"""Calls whose pages may be read at the same time; those of others wait for their turn."""
_WHAT = "the document"


class OcrService:
    """Reads documents with the prebuilt models of type OCR."""

    def __init__(
        self,
        samples: SampleFiles,
        engines: OcrPool,
        in_flight: InFlight,
        threads: int,
        limit_seconds: float,
    ) -> None:
        """Keep stores and engines.

        Args:
            samples: brings documents.
            engines: the installed networks.
            in_flight: counts the documents that are being read.
            threads: pages of one document that are read at the same time.
            limit_seconds: time of a whole call, for the text of a refusal.
        """
        self._samples = samples
        self._engines = engines
        self._in_flight = in_flight
        self._threads = max(1, threads)
        self._limit_seconds = limit_seconds
        self._slots = threading.Semaphore(CALLS * self._threads)
        bound_memory()

    def warm(self) -> None:
        """Load what the first call would wait for.

        Raises:
            OcrNotInstalled: files of an engine are damaged.
        """
        import_module("chalicelib.formats.documents")
        import_module("chalicelib.engines.ocr.tasks")
        self._engines.warm()

    def require_networks(self, model: ServedModel) -> None:
        """Return when the networks are installed that a model of type OCR needs.

        Raises:
            PrebuiltNotInstalled: they are not.
        """
        self._load(model, DOCUMENTED)

    @staticmethod
    def template(
        source: bytes | str | Mapping[str, object] | None, form_type: str | None
    ) -> FormTemplate:
        """Read a form template, or take the one that ships for a standard form.

        Args:
            source: the template as it was sent, or None.
            form_type: name of a standard form, or None.

        Raises:
            MissingParameter: there is neither.
            BadRequest: there are both.
            InvalidParameter: the template cannot be read, or no standard form has this name.
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
            raise InvalidParameter("formType", f"{shown} is none of {', '.join(FORM_TYPES)}.")
        from chalicelib.formats.templates.form_template import standard_template

        return standard_template(form_type)

    def read(
        self,
        model: ServedModel,
        sample: Sample,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> DocumentFindings:
        """Find in a document what is asked for.

        Args:
            model: the model, of type OCR.
            sample: picture or PDF, or its address.
            request: what to look for.
            seconds_left: returns the time that the call may still take.

        Raises:
            InvalidParameter: the model is of another type.
            BadRequest: the document is broken, encrypted, empty, or over a limit of pixels, pages
                or words; or the URL cannot be read.
            TooLarge: it has more bytes than are allowed.
            UnsupportedType: it is neither PNG, JPEG nor PDF.
            TimedOut: the time is up; the text names the page that was reached.
            PrebuiltNotInstalled: the engine's files are missing.
            RateExceeded: the account has as many documents being read as it may.
        """
        model.require_type((OCR,))
        tools = self._load(model, request.alphabet)
        with self._in_flight.running(sample.account_id, DOCUMENTS):
            pages = self._read(model, sample, request, tools, seconds_left)
        return _finish(pages, request)

    def read_content(
        self,
        model: ServedModel,
        content: bytes,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> DocumentFindings:
        """Read a document as `read` does, without counting it as a running call."""
        model.require_type((OCR,))
        tools = self._load(model, request.alphabet)
        return _finish(
            self._read(model, Sample(content=content), request, tools, seconds_left), request
        )

    def _read(
        self,
        model: ServedModel,
        sample: Sample,
        request: OcrRequest,
        tools: Tools,
        seconds_left: Callable[[], float],
    ) -> list[PageFindings]:
        """Bring a document and read its pages."""
        seconds = min(DOWNLOAD_SECONDS, seconds_left())
        content = self._samples.content(sample, MAX_OCR_BYTES, _WHAT, seconds)
        began = time.monotonic()
        try:
            pages = self._read_pages(content, request, tools, seconds_left)
        except OcrNotInstalled as missing:
            raise PrebuiltNotInstalled(model.model_id) from missing
        finally:
            give_back()
        journal.document_read(request.task, len(pages), time.monotonic() - began)
        return pages

    def _read_pages(
        self, content: bytes, request: OcrRequest, tools: Tools, seconds_left: Callable[[], float]
    ) -> list[PageFindings]:
        """Read all pages of a document."""
        from chalicelib.formats.documents import open_document

        most = MAX_OCR_PAGES[request.task]
        with open_document(content, most, seconds_left=seconds_left()) as document:
            work = PageWork(document.page_count, seconds_left(), self._limit_seconds, self._slots)
            threads = ThreadPoolExecutor(self._threads, "page")
            try:
                read = log.with_context(
                    lambda number: _read_page(document, number, request, tools, work)
                )
                return work.run(threads, read)
            finally:
                # After an error, the threads end by themselves at their next check.
                threads.shutdown(wait=False, cancel_futures=True)

    def _load(self, model: ServedModel, alphabet: str) -> Tools:
        """Return the networks, from memory when they are loaded."""
        from chalicelib.engines.ocr.tasks import Tools

        try:
            return Tools(self._engines.engine(alphabet), self._engines.structure())
        except OcrNotInstalled as missing:
            raise PrebuiltNotInstalled(model.model_id) from missing


def _read_page(
    document: Document, number: int, request: OcrRequest, tools: Tools, work: PageWork
) -> PageFindings:
    """Read one page, find what is asked for, and let its pixels go."""
    from chalicelib.engines.ocr.reading import read_page
    from chalicelib.engines.ocr.tasks import find_items, lay_out

    page = read_page(document.page(number, request.needs_pixels), tools.engine, work.check)
    _check_words(page, request, is_picture=document.is_picture)
    items = find_items(page, request, tools, work.check)
    places, blocks = lay_out(page, items, request, tools, work.check)
    view = without_content(page)
    findings = tuple(
        Finding(view, position, item, place)
        for position, (item, place) in enumerate(zip_longest(items, places))
    )
    return PageFindings(findings, view, page.unread, tuple(blocks))


def _check_words(page: ReadPage, request: OcrRequest, *, is_picture: bool) -> None:
    """Refuse a picture of too many words, and a form or card of too many lines."""
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
    """Put what was found on the pages together."""
    from chalicelib.engines.ocr.layout.writing import write

    findings = _named(numbered_through(pages), request)
    sizes = tuple(page.size for page in pages) if request.has_pages else None
    if request.task != TEXT:
        return DocumentFindings(findings, pages=sizes)
    unread = tuple(box for page in pages for box in page.unread_boxes) if request.layout else None
    text = write([page.blocks for page in pages], request.output) if request.output else None
    return DocumentFindings(findings, unread, text, sizes)


def _named(findings: Sequence[Finding], request: OcrRequest) -> tuple[Finding, ...]:
    """Name the tables, keep the best of the fields, and put the surest first."""
    from chalicelib.engines.ocr.tables.links import PagePart
    from chalicelib.engines.ocr.tasks import name_tables

    tables = [each for each in findings if isinstance(each.item, Table)]
    parts = [PagePart(each.view, each.item) for each in findings if isinstance(each.item, Table)]
    others = [each for each in findings if not isinstance(each.item, Table)]
    if request.template is not None:
        others = list(best_fields(others))
    blocks = name_tables(parts, request)
    named = [replace(each, item=block) for each, block in zip(tables, blocks, strict=True)]
    return ordered([*others, *named])
