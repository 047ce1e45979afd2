"""Measures the task `form` on original documents of issuers, with the shipped templates.

Files are read as the service reads them: from the text layer if it is reliable, otherwise from
pixels. `--plot` draws correct values green, wrong values red, and keys without a found value
orange.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bench.ocr_document_metrics import (
    VARIANTS,
    DocumentSample,
    ScoredField,
    calibration_error,
    read_returns,
    read_specimens,
    score,
    sure_shares,
    value_f1,
)
from bench.ocr_plots import GREEN, ORANGE, RED, Mark
from bench.ocr_reading import Cost, Reader, go_on
from bench.report import Bar, ceiling, say
from chalicelib.domain.common.limits import MAX_OCR_PAGES
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.ocr import FORM, Finding, OcrRequest, best_fields
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.tasks import Tools, find_items
from chalicelib.formats.documents import open_document

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

BARS = {"text layer": 0.92, "200 dpi": 0.88, "noisy 100 dpi": 0.80}
SPECIMENS = ("specimens", "specimens2")
SPECIMENS_BAR, SPECIMENS_SURE_BAR, SPECIMENS_KNOWN_BAR = 0.92, 0.97, 0.6
SPECIMENS_ERROR_BAR = 0.05
SURE_BAR, KNOWN_BAR, CALIBRATION_BAR = 0.95, 0.5, 0.06


def bench_documents(bench: Bench) -> None:
    """Report values and calibration of probabilities on tax returns and specimens."""
    every: list[ScoredField] = []
    for variant in VARIANTS:
        fields = _bench_set(bench, f"form 1040, {variant}", read_returns(bench.data, variant))
        bench.add(f"form 1040, {variant}: value F1", value_f1(fields), Bar(BARS[variant]))
        every += fields
    specimens: list[ScoredField] = []
    for name in SPECIMENS:
        fields = _bench_set(bench, name, read_specimens(bench.data, name))
        bench.add(f"{name}: value F1", value_f1(fields))
        specimens += fields
    _add_specimens(bench, specimens)
    every += specimens
    right, known = sure_shares(every)
    bench.add("documents: values of p >= .95 that are right", right, Bar(SURE_BAR))
    bench.add("documents: right values that have p >= .95", known, Bar(KNOWN_BAR))
    error = calibration_error(every)
    bench.add("documents: calibration error of values", error, ceiling(CALIBRATION_BAR))
    error = calibration_error(every, is_empty=True)
    bench.add("documents: calibration error of empty values", error, ceiling(CALIBRATION_BAR))


def _add_specimens(bench: Bench, fields: Sequence[ScoredField]) -> None:
    right, known = sure_shares(fields)
    bench.add("all specimens: value F1", value_f1(fields), Bar(SPECIMENS_BAR))
    bench.add("all specimens: values of p >= .95 that are right", right, Bar(SPECIMENS_SURE_BAR))
    bench.add("all specimens: right values that have p >= .95", known, Bar(SPECIMENS_KNOWN_BAR))
    error = calibration_error(fields)
    bench.add("all specimens: calibration error of values", error, ceiling(SPECIMENS_ERROR_BAR))


def _bench_set(bench: Bench, name: str, samples: Sequence[DocumentSample]) -> list[ScoredField]:
    """Read a set of documents; print and draw the result of each document."""
    every: list[ScoredField] = []
    cost = Cost()
    for sample in samples:
        with cost.document():
            pages = _pages(bench.reader, sample)
            found = answered_fields(bench.reader, sample, pages)
        fields = score(sample, {e.entity: (e.value_text, e.probability) for _, e in found})
        say(f"{sample.name}: value F1 {value_f1(fields):.3f}")
        for field in fields:
            if not field.is_right:
                say(f"  {field.entity}: {field.read!r} is {field.wanted!r} {field.probability:.2f}")
        if bench.plots is not None:
            _draw(bench, sample, fields, found)
        every += fields
    bench.add_cpu(name, cost, None, None)
    return every


def _pages(reader: Reader, sample: DocumentSample) -> list[ReadPage]:
    """Read the pages of a file as the service reads them."""
    request = OcrRequest(FORM, sample.template)
    with open_document(sample.content, MAX_OCR_PAGES[FORM]) as document:
        return [
            reader.read(document.page(number, request.needs_pixels))
            for number in range(1, document.page_count + 1)
        ]


def answered_fields(
    reader: Reader, sample: DocumentSample, pages: Iterable[ReadPage]
) -> list[tuple[int, FormField]]:
    """Return the fields that the service would return, each with the number of its page."""
    request = OcrRequest(FORM, sample.template)
    tools = Tools(reader.engine, reader.structure)
    found = [
        Finding(page, position, item)
        for page in pages
        for position, item in enumerate(find_items(page, request, tools, go_on))
    ]
    best = best_fields(found)
    return [(each.page_number, each.item) for each in best if isinstance(each.item, FormField)]


def _draw(
    bench: Bench,
    sample: DocumentSample,
    fields: Iterable[ScoredField],
    found: Sequence[tuple[int, FormField]],
) -> None:
    """Draw the pages of a document, with the result of each field."""
    scored = {field.entity: field for field in fields}
    with open_document(sample.content, MAX_OCR_PAGES[FORM]) as document:
        for number in range(1, document.page_count + 1):
            here = [field for page, field in found if page == number]
            page = bench.reader.read(document.page(number, True))
            if bench.plots is not None:
                bench.plots.page(f"{sample.name}-{number}", page, _marks(here, scored))


def _marks(found: Iterable[FormField], scored: dict[str, ScoredField]) -> Iterator[Mark]:
    """Yield marks (boxes to draw) of correct values, wrong values, and keys without a value."""
    for field in found:
        outcome = scored.get(field.entity)
        if outcome is None:
            continue
        if field.value_box is not None:
            colour = GREEN if outcome.is_right else RED
            yield Mark(field.value_box, colour, field.entity)
        elif outcome.wanted and field.key_box is not None:
            yield Mark(field.key_box, ORANGE, field.entity)
