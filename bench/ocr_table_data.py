"""Reads the true tables of the evaluation data: drawn tables, ICDAR's XML, PubTabNet's HTML."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ocr_data import Sample, read_rendered
from bench.ocr_table_metrics import GridText
from chalicelib.domain.documents.page import Rect

RULED = "ruled"
Cells = tuple[GridText, ...]
_SPAN = re.compile(r'(rowspan|colspan)="(\d+)"')
_TAG = re.compile(r"</?[a-z]+>")


@dataclass(frozen=True)
class TrueTable:
    """A true table and its position on the page."""

    style: str
    """Way in which its rules are drawn."""
    box: Rect
    """Place of the table, in pixels."""
    cells: Cells
    """All cells, also those without text."""


@dataclass(frozen=True)
class TrueDocument:
    """A PDF with the tables on its pages."""

    name: str
    content: bytes
    tables: dict[int, list[Cells]]
    """Tables by page number, from 1; cells without text are left out."""


def read_drawn_tables(data: Path) -> list[tuple[Sample, list[TrueTable]]]:
    """Read the drawn pages with their tables."""
    return [
        (sample, [_drawn_table(table) for table in truth["tables"]])
        for sample, truth in read_rendered(data, "tables")
    ]


def _drawn_table(table: dict[str, Any]) -> TrueTable:
    """Read one drawn table, in which rows and columns are numbered from 0."""
    cells = tuple(
        GridText(
            cell["r"], cell["c"], cell["text"], cell["rs"], cell["cs"], cell["h"] == "columnHeader"
        )
        for cell in table["cells"]
    )
    return TrueTable(table["style"], Rect(*table["box"]), cells)


def read_icdar(data: Path) -> list[TrueDocument]:
    """Read the PDFs of the ICDAR 2013 table competition."""
    folder = data / "ocr" / "icdar2013"
    return [
        TrueDocument(path.stem, path.read_bytes(), _xml_tables(folder / f"{path.stem}-str.xml"))
        for path in sorted(folder.glob("*.pdf"))
    ]


def _xml_tables(path: Path) -> dict[int, list[Cells]]:
    """Read the true tables of a PDF by page. Each region in the XML is a table."""
    tables = defaultdict(list)
    for region in ElementTree.parse(path).getroot().iter("region"):  # noqa: S314  # trusted data
        cells = tuple(_xml_cell(cell) for cell in region.iter("cell"))
        tables[int(region.attrib["page"])].append(cells)
    return dict(tables)


def _xml_cell(cell: ElementTree.Element) -> GridText:
    """Read one cell. Only cells that span rows or columns have an end row and an end column."""
    row, column = int(cell.attrib["start-row"]), int(cell.attrib["start-col"])
    return GridText(
        row,
        column,
        cell.findtext("content") or "",
        int(cell.attrib.get("end-row", row)) - row + 1,
        int(cell.attrib.get("end-col", column)) - column + 1,
    )


def read_pubtabnet(data: Path) -> list[tuple[Sample, Cells]]:
    """Read the images of single tables from scientific articles."""
    folder = data / "ocr" / "pubtabnet"
    found = []
    for line in (folder / "gt.jsonl").read_text("utf-8").splitlines():
        truth = json.loads(line)
        name, html = truth["filename"], truth["html"]
        texts = [_TAG.sub("", "".join(cell["tokens"])) for cell in html["cells"]]
        cells = html_cells(html["structure"]["tokens"], texts)
        found.append((Sample(name, (folder / name).read_bytes(), ()), cells))
    return found


def html_cells(tokens: Sequence[str], texts: Sequence[str]) -> Cells:
    """Return an HTML table's cells with their rows and columns, which are numbered from 0."""
    cells: list[GridText] = []
    taken: set[tuple[int, int]] = set()
    waiting = iter(texts)
    for row, (is_head, spans) in enumerate(_html_rows(tokens)):
        column = 0
        for rows, columns in spans:
            while (row, column) in taken:
                column += 1
            cells.append(GridText(row, column, next(waiting), rows, columns, is_head))
            taken |= {(row + y, column + x) for y in range(rows) for x in range(columns)}
    return tuple(cells)


def _html_rows(tokens: Sequence[str]) -> Iterator[tuple[bool, list[tuple[int, int]]]]:
    """For each row, yield whether it is in the head, and the row and column span of each cell."""
    is_head, spans = False, list[tuple[int, int]]()
    for token in tokens:
        if token in ("<thead>", "</thead>"):
            is_head = token == "<thead>"
        elif token == "<tr>":
            spans = []
        elif token == "</tr>":
            yield is_head, spans
        elif token.startswith("<td"):
            spans.append((1, 1))
        elif found := _SPAN.search(token):
            rows, columns = spans[-1]
            count = int(found[2])
            spans[-1] = (count, columns) if found[1] == "rowspan" else (rows, count)
