"""Measures how PDFs are read: HTTP status for each file, accuracy and time of text layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pypdfium2

from bench.bench_http import ceiling
from bench.ocr_reading import Cost, Reader
from bench.ocr_table_data import read_icdar
from bench.ocr_text_metrics import Edits, compare_texts, total_edits
from bench.report import Bar, say
from chalicelib.domain.documents.page import ReadPage
from chalicelib.errors import ServiceError
from chalicelib.formats.documents import open_document

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

MAX_PAGES = 8
"""Largest number of pages for the task text."""
STATUSES = {
    "plain": 200,
    "junkprefix": 200,
    "owner": 200,
    "huge": 200,
    "bomb20k": 200,
    "user": 400,
    "trunc": 400,
    "empty": 400,
    "p9": 400,
    "html": 415,
}
"""Expected status by file."""
EXACT = ("plain", "junkprefix", "owner")
"""Files that were created as PDFs, not scanned."""


@dataclass(frozen=True)
class Outcome:
    """The result of reading a PDF file."""

    status: int
    """The status that the service returns."""
    message: str
    """The error text, if any."""
    seconds: float
    """Duration in seconds."""


def bench_pdf(bench: Bench) -> None:
    """Read valid and hostile files, then compare text layers."""
    folder = bench.data / "ocr" / "rendered" / "pdf"
    right, slowest = 0, 0.0
    for name, status in STATUSES.items():
        outcome = try_file(bench.reader, (folder / f"{name}.pdf").read_bytes())
        right += outcome.status == status
        slowest = max(slowest, outcome.seconds)
        say(f"{name}: {outcome.status} in {outcome.seconds:.2f} s {outcome.message}")
    bench.report.add("PDFs answered as expected", right, "", Bar(len(STATUSES)))
    bench.report.add("slowest of these PDFs", slowest, "s")
    files = [(folder / f"{name}.pdf").read_bytes() for name in EXACT]
    bench_layers(bench, "born-digital PDFs", files, is_barred=True)
    files = [document.content for document in read_icdar(bench.data)]
    bench_layers(bench, "ICDAR 2013, text layer", files, is_barred=False)


def try_file(reader: Reader, content: bytes) -> Outcome:
    """Read all pages of a file; return the HTTP status, the error text and the time."""
    cost, status, message = Cost(), 200, ""
    with cost.document():
        try:
            with open_document(content, MAX_PAGES) as document:
                for number in range(1, document.page_count + 1):
                    reader.runs(reader.read(document.page(number, False)))
        except ServiceError as trouble:
            status, message = trouble.status, trouble.message
    return Outcome(status, message, cost.wall[0])


def bench_layers(bench: Bench, name: str, files: list[bytes], *, is_barred: bool) -> None:
    """Compare the text that the engine reads in PDFs with their text layers; measure the time."""
    cost, edits, layers, count = Cost(), list[Edits](), 0, 0
    for content in files:
        with cost.document():
            pages = bench.reader.pages(content)
        edits += [
            compare_texts(_sorted(truth), _sorted(_text(page)))
            for page, truth in zip(pages, layer_texts(content), strict=True)
            if page.is_exact
        ]
        layers += sum(page.is_exact for page in pages)
        count += len(pages)
    say(f"{name}: the text layers of {layers} of {count} pages were used")
    rate = total_edits(edits).rate
    bench.report.add(f"{name}: characters that differ", rate, "", ceiling(0) if is_barred else None)
    slowest = max(cost.wall)
    bench.report.add(f"{name}: slowest", slowest, "s", ceiling(0.5) if is_barred else None)


def layer_texts(content: bytes) -> list[str]:
    """Return the text layer of each page, read by the PDF library alone."""
    with pypdfium2.PdfDocument(content) as document:
        return [page.get_textpage().get_text_range() for page in document]


def _text(page: ReadPage) -> str:
    return " ".join(line.text for line in page.lines)


def _sorted(text: str) -> str:
    """Sort the words of a text, because a layer may have them in any order."""
    return " ".join(sorted(text.split()))
