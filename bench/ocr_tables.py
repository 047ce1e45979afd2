"""Measures the task `table`: F1 of cells or of adjacency relations, and TEDS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from bench.ocr_data import Sample
from bench.ocr_invoices import PLAIN, draw_invoices
from bench.ocr_invoices import RULED as INVOICE_RULES
from bench.ocr_plots import table_marks
from bench.ocr_reading import Cost, Reader, answer_rect, go_on, interval
from bench.ocr_table_data import (
    RULED,
    TrueDocument,
    TrueTable,
    read_drawn_tables,
    read_icdar,
    read_pubtabnet,
)
from bench.ocr_table_metrics import cells_of, count_cells, count_relations, pair_tables, teds
from bench.ocr_text_metrics import Tally, count_words, total
from bench.report import Bar, say
from bench.table_families import CUT_FAMILIES, FAMILIES
from bench.table_pages import MEASURED, draw_tables
from chalicelib.domain.documents.findings import Table
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.tables.finder import find_tables

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

Truth = TypeVar("Truth")
"""The true values for an image: its tables, or the cells of its only table."""
PUBLISHED = ("best of the competition, from PDF", 0.946)
"""Adjacency F1 on ICDAR 2013, detection and structure, as published."""


@dataclass
class Found:
    """The results of one reader (engine) for a set of documents."""

    cells: list[Tally] = field(default_factory=list)
    """Counts of cells of ruled tables, one tally for each page."""
    relations: list[Tally] = field(default_factory=list)
    """Counts of adjacency relations, one tally for each page or document."""
    words: list[Tally] = field(default_factory=list)
    """Counts of words, one tally for each document."""
    trees: list[float] = field(default_factory=list)
    """TEDS of each table."""
    cost: Cost = field(default_factory=Cost)
    tables: int = 0
    """Number of tables found."""


def tables_of(reader: Reader, page: ReadPage) -> tuple[Table, ...]:
    """Find the tables of a page."""
    return find_tables(page, reader.engine, reader.structure, go_on)


def bench_tables(bench: Bench) -> None:
    """Measure table recognition on every set of documents."""
    bench_drawn(bench)
    bench_invoices(bench)
    bench_generated(bench)
    bench_pubtabnet(bench)
    bench_icdar(bench)


def both(bench: Bench, read: Callable[[Reader], Found]) -> tuple[Found, Found | None]:
    """Read a set of documents with the engine, and with the peer if there is a peer."""
    return read(bench.reader), None if bench.peer is None else read(bench.peer)


def read_pictures(
    bench: Bench, reader: Reader, samples: Iterable[tuple[Sample, Truth]], cost: Cost
) -> Iterator[tuple[ReadPage, tuple[Table, ...], Truth]]:
    """Read images of pages; yield page, tables and true values; draw them if requested."""
    for sample, truth in samples:
        with cost.document():
            (page,) = reader.pages(sample.content, needs_pixels=True)
            tables = tables_of(reader, page)
        if bench.plots is not None and reader is bench.reader:
            bench.plots.page(sample.name, page, table_marks(tables))
        yield page, tables, truth


def bench_drawn(bench: Bench) -> None:
    """Report the cell F1 of drawn tables with lines, and the adjacency F1 of other tables."""
    samples = read_drawn_tables(bench.data)

    def read(reader: Reader) -> Found:
        result = Found()
        for page, tables, truth in read_pictures(bench, reader, samples, result.cost):
            judge_drawn(result, page, tables, truth)
        return result

    found, peer = both(bench, read)
    add_f1(bench, "ruled tables: cell F1", found.cells, Bar(0.98), peer and peer.cells)
    add_f1(
        bench,
        "other drawn tables: adjacency F1",
        found.relations,
        Bar(0.95),
        peer and peer.relations,
    )
    bench.add_cpu("pages with drawn tables", found.cost, None, peer and peer.cost)


def add_f1(
    bench: Bench, name: str, tallies: list[Tally], bar: Bar | None, peer: list[Tally] | None
) -> None:
    """Report the F1 of a set of documents."""
    spread = interval(tallies, lambda some: total(some).f1)
    other = None if peer is None else total(peer).f1
    bench.add(name, total(tallies).f1, bar, other, spread)


def judge_drawn(
    result: Found, page: ReadPage, tables: Sequence[Table], truth: Sequence[TrueTable]
) -> None:
    """Compare the tables that were found on a page with the true tables.

    A found table without a matching true table is an error. If all true tables of the page have
    lines, it is counted with the tables with lines, otherwise with the tables without lines.
    """
    boxes = [answer_rect(page, table.box) for table in tables]
    pairs = {other: at for at, other in pair_tables(boxes, [table.box for table in truth])}
    extra = [tables[at] for at in range(len(tables)) if at not in pairs.values()]
    ruled = [at for at, table in enumerate(truth) if table.style == RULED]
    others = [at for at in range(len(truth)) if at not in ruled]
    if ruled:
        counts = [
            count_cells(cells_of(tables[pairs[at]]) if at in pairs else (), truth[at].cells)
            for at in ruled
        ]
        if not others:
            counts += [count_cells(cells_of(table), ()) for table in extra]
        result.cells.append(total(counts))
    if others:
        taken = [tables[pairs[at]] for at in others if at in pairs] + extra
        expected = [truth[at].cells for at in others]
        result.relations.append(count_relations(map(cells_of, taken), expected))


def bench_invoices(bench: Bench) -> None:
    """Report how well item tables of invoices are read, from images and from text layers."""
    for name, ways in (("ruled", INVOICE_RULES), ("plain", PLAIN)):
        documents = [
            TrueDocument(invoice.name, invoice.content, {1: [invoice.cells]})
            for invoice in draw_invoices(ways)
        ]
        for trusts_layer, how in ((False, "drawn"), (True, "text layer")):
            found = read_documents(bench, bench.reader, documents, trusts_layer)
            title = f"{name} item tables, {how}"
            add_f1(bench, f"{title}: adjacency F1", found.relations, Bar(0.98), None)
            bench.add_cpu(title, found.cost, None, None)


def bench_generated(bench: Bench) -> None:
    """Report the adjacency F1 of generated tables. No weight was fitted on their seeds."""
    kinds = {"generated tables": FAMILIES, "generated pages of two tables or of one": CUT_FAMILIES}
    for kind, families in kinds.items():
        result = Found()
        for _, drawn in draw_tables(families, MEASURED):
            with result.cost.document():
                tables = tables_of(bench.reader, drawn.layer())
            truth = [table.values() for table in drawn.tables]
            result.relations.append(count_relations(map(cells_of, tables), truth))
        title = f"{len(result.relations)} {kind}, text layer"
        add_f1(bench, f"{title}: adjacency F1", result.relations, Bar(0.95), None)
        bench.add_cpu(title, result.cost, None, None)


def bench_pubtabnet(bench: Bench) -> None:
    """Report TEDS on images of single tables."""
    samples = read_pubtabnet(bench.data)

    def read(reader: Reader) -> Found:
        """Read the images; compare the largest table that is found in each image."""
        result = Found()
        for _, tables, truth in read_pictures(bench, reader, samples, result.cost):
            best = max(tables, key=lambda table: table.box.area, default=None)
            result.trees.append(0.0 if best is None else teds(cells_of(best), truth))
        return result

    found, peer = both(bench, read)
    worst = min(range(len(samples)), key=lambda at: found.trees[at])
    say(f"worst cut-out table: {samples[worst][0].name}, {found.trees[worst]:.3f}")
    bench.add(
        "cut-out tables (PubTabNet): TEDS",
        fmean(found.trees),
        Bar(0.95),
        peer and fmean(peer.trees),
        interval(found.trees, fmean),
    )
    bench.add_cpu("cut-out tables", found.cost, None, peer and peer.cost)


def bench_icdar(bench: Bench) -> None:
    """Report the F1 of documents of ICDAR 2013, read from page images and from text layers."""
    documents = read_icdar(bench.data)
    found, peer = both(bench, lambda reader: read_documents(bench, reader, documents, False))
    exact = read_documents(bench, bench.reader, documents, True)
    tables = sum(len(some) for document in documents for some in document.tables.values())
    say(f"ICDAR 2013: {found.tables} tables found, {tables} are there")
    name = "ICDAR 2013"
    add_f1(
        bench, f"{name}, drawn: adjacency F1", found.relations, Bar(0.85), peer and peer.relations
    )
    add_f1(bench, f"{name}, drawn: word F1", found.words, None, peer and peer.words)
    bench.add_cpu(f"{name}, drawn, a document", found.cost, None, peer and peer.cost)
    value, spread = total(exact.relations).f1, interval(exact.relations, lambda s: total(s).f1)
    bench.report.add(f"{name}, text layer: adjacency F1", value, "", None, PUBLISHED, spread)
    bench.add_cpu(f"{name}, text layer, a document", exact.cost, None, None)


def read_documents(
    bench: Bench, reader: Reader, documents: Iterable[TrueDocument], trusts_layer: bool
) -> Found:
    """Read the tables of PDFs, from images of the pages or from text layers."""
    result = Found()
    for document in documents:
        with result.cost.document():
            pages = reader.pages(document.content, needs_pixels=True, trusts_layer=trusts_layer)
            tables = [tables_of(reader, page) for page in pages]
        counts = [
            count_relations(map(cells_of, some), document.tables.get(page.page.number, []))
            for page, some in zip(pages, tables, strict=True)
        ]
        result.relations.append(total(counts))
        if not trusts_layer:
            exact = reader.pages(document.content)
            result.words.append(count_document(exact, pages))
        result.tables += sum(map(len, tables))
        if bench.plots is not None and reader is bench.reader and not trusts_layer:
            for page, some in zip(pages, tables, strict=True):
                bench.plots.page(f"{document.name}-{page.page.number}", page, table_marks(some))
    return result


def count_document(exact: Sequence[ReadPage], drawn: Sequence[ReadPage]) -> Tally:
    """Compare text read from page images with the text layer; skip pages without a text layer."""
    return total(
        count_words([line.text for line in truth.lines], [line.text for line in page.lines])
        for truth, page in zip(exact, drawn, strict=True)
        if truth.is_exact
    )
