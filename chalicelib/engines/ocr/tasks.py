"""Finds what a task asks for on one page, and names the tables of a whole document."""

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
    """The networks that read."""

    engine: TextEngine
    """Reads text."""
    structure: StructureModel | None
    """Finds rows and columns of tables without ruled lines; None when it is not installed."""


def find_items(
    page: ReadPage, request: OcrRequest, tools: Tools, check: CancelCheck
) -> Sequence[Item]:
    """Find on a page what is asked for.

    Args:
        page: with pixels when tables are asked for.
        request: the task, and the template of a form.
        tools: the networks.
        check: see chalicelib/engines/ocr/interface.py.

    Returns:
        Items in reading order, in the coordinates of the page; tables are not named yet.
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
    """Return the reading order of the items of task text, and their blocks.

    Args:
        page: the items' page; with pixels when tables are to be written.
        items: what `find_items` found.
        request: what of the two is asked for; other tasks have neither.
        tools: the networks.
        check: see chalicelib/engines/ocr/interface.py.

    Returns:
        The place of each item, and the blocks in reading order; both empty unless asked for.
    """
    runs = [item for item in items if isinstance(item, TextLine)] if request.task == TEXT else []
    if not (runs and (request.layout or request.output)):
        return (), ()
    places: Sequence[ReadingPlace] = ()
    if request.layout:
        places = reading_places(arrange(runs, is_exact=page.is_exact))
    if request.output is None:
        return places, ()
    tables: Sequence[Table] = ()
    if request.output == MARKDOWN:
        tables = find_tables(page, tools.engine, tools.structure, check)
    return places, written_blocks(page, runs, tables)


def name_tables(parts: Sequence[PagePart], request: OcrRequest) -> tuple[TableBlock, ...]:
    """Name the tables of one answer by their headers, and normalise the addresses in their cells.

    Args:
        parts: in the order of the answer's reading.
        request: whether parts of one table are linked, and the template that gives names to
            header cells; without one the headers' own texts stay.
    """
    wholes = link(parts) if request.links_tables else [alone(part) for part in parts]
    named = name_headers([whole.table for whole in wholes], request.template)
    return tuple(
        TableBlock(share, _addresses(share), number)
        for number, (whole, names) in enumerate(zip(wholes, named, strict=True), 1)
        for share in whole.split(names)
    )


def _addresses(named: NamedTable) -> tuple[str | None, ...]:
    """Return the address in each cell that holds one."""
    return tuple(normalized_address(cell.text) for cell in named.table.cells)
