"""Finds the items that a task requests on one page, and names tables of a whole document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.findings import NamedTable, Table
from chalicelib.domain.documents.layout import MARKDOWN, ReadingPlace, WrittenBlock
from chalicelib.domain.documents.ocr import (
    CONTACT,
    TEXT,
    Item,
    OcrRequest,
    TableBlock,
    in_reading_order,
)
from chalicelib.domain.documents.page import ReadPage, TextLine
from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.contacts.finder import find_contacts
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.forms.header_names import name_headers
from chalicelib.engines.ocr.forms.single_boxes import with_single_boxes
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine
from chalicelib.engines.ocr.layout.blocks import arrange, reading_places
from chalicelib.engines.ocr.layout.writing import written_blocks
from chalicelib.engines.ocr.mrz.fields import with_zone
from chalicelib.engines.ocr.runs import text_runs
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.engines.ocr.tables.links import PagePart, alone, link
from chalicelib.engines.ocr.tables.structure import StructureModel


@dataclass(frozen=True)
class Tools:
    """The engine and network that read pages."""

    engine: TextEngine
    """Engine that reads text."""
    structure: StructureModel | None
    """Network that recognises the structure of tables; None if it is not installed."""


def find_items(
    page: ReadPage, request: OcrRequest, tools: Tools, check: CancelCheck
) -> Sequence[Item]:
    """Find the items of the requested task on a page.

    Args:
        page: the page, which must have pixels if tables are requested.
        request: request with the task and the form template.
        tools: the networks.
        check: called regularly; may raise an error to stop.

    Returns:
        The items in reading order, in coordinates of the page; tables have no names yet.
    """
    if request.task == TEXT:
        return text_runs(page, tools.engine, check)
    items: list[Item] = []
    if request.task == CONTACT:
        items += find_contacts(page, check)
    if request.template is not None:
        boxed = with_single_boxes(page, tools.engine, check)
        fields = find_fields(boxed, request.template, check)
        items += with_zone(fields, page, request.template, tools.engine, check)
    if request.finds_tables:
        items += find_tables(page, tools.engine, tools.structure, check)
    return in_reading_order(items)


def lay_out(
    page: ReadPage,
    items: Sequence[Item],
    request: OcrRequest,
    tools: Tools,
    check: CancelCheck,
) -> tuple[Sequence[ReadingPlace], Sequence[WrittenBlock]]:
    """Return the reading order of the items of the task `text`, and the blocks of the page.

    Args:
        page: page of the items, which must have pixels if tables are written.
        items: result of `find_items`.
        request: its layout, output and roles decide what is computed.
        tools: the networks.
        check: called regularly; may raise an error to stop.

    Returns:
        The position of each item, and the blocks in reading order; empty if not requested.
    """
    if request.task != TEXT:
        return (), written_blocks(page, page.lines, ()) if request.has_roles else ()
    runs = [item for item in items if isinstance(item, TextLine)]
    if not (runs and (request.layout or request.output)):
        return (), ()
    places: Sequence[ReadingPlace] = ()
    if request.layout:
        places = reading_places(arrange(runs, is_exact=page.is_exact))
    tables: Sequence[Table] = ()
    if request.output == MARKDOWN:
        tables = find_tables(page, tools.engine, tools.structure, check)
    return places, written_blocks(page, runs, tables)


def name_tables(parts: Sequence[PagePart], request: OcrRequest) -> tuple[TableBlock, ...]:
    """Name the tables of a document by their headers, and normalise addresses in their cells.

    Args:
        parts: tables in reading order.
        request: decides whether parts of a table are linked. Its template has the names of header
            cells; without a template, the texts of the header cells are the names.
    """
    wholes = link(parts) if request.links_tables else [alone(part) for part in parts]
    named = name_headers([whole.table for whole in wholes], request.template)
    return tuple(
        TableBlock(share, _addresses(share), number)
        for number, (whole, names) in enumerate(zip(wholes, named, strict=True), 1)
        for share in whole.split(names)
    )


def _addresses(named: NamedTable) -> tuple[str | None, ...]:
    return tuple(normalized_address(cell.text) for cell in named.table.cells)
