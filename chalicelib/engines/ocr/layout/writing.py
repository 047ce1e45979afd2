"""Writes a document down in reading order, as plain text or as Markdown.

What stands on a page is text, never markup: in Markdown every character that could mean something
else is escaped, HTML and entities too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from statistics import median
from typing import TYPE_CHECKING

from chalicelib.domain.documents.findings import COLUMN_HEADER
from chalicelib.domain.documents.layout import MARKDOWN, WrittenBlock
from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.layout.blocks import Blocks, arrange
from chalicelib.engines.ocr.order import weighted_median

if TYPE_CHECKING:
    from chalicelib.domain.documents.findings import Cell, Table

_INSIDE = 0.5
"""Share of a run's area by which it belongs to a table."""
_HEADING = 1.2
"""A heading's print is larger than most of the text: so many times as high."""
_LEVELS = 3
"""Headings of still smaller print are of the last level."""
_LONGEST = 3
"""Lines of a heading."""
_SPECIAL = re.compile(r"[\\`*_#\[\]<>|~&]")
"""What means something anywhere in Markdown."""
_LIST_MARK = re.compile(r"([-+]|[0-9]{1,9}(?=[.)]))")
"""What means something at the beginning of a line."""
_BULLET = re.compile(r"[•·‣–-] +(?=\S)")
_DIVIDED = re.compile(r"[^\W\d_]-$")
"""The end of a line at which a word is divided."""


def written_blocks(
    runs: Sequence[TextLine], blocks: Blocks, tables: Sequence[Table], scale: float
) -> tuple[WrittenBlock, ...]:
    """Return what a page is written from, in reading order.

    Args:
        runs: of the page.
        blocks: the runs' order when there are no tables.
        tables: of the page; each takes the place of the runs inside.
        scale: pixels of the answer for each pixel of the page.
    """
    if not tables:
        return tuple(_text_block(runs, block, scale) for block in blocks)
    return tuple(_around_tables(runs, tables, scale))


def _around_tables(
    runs: Sequence[TextLine], tables: Sequence[Table], scale: float
) -> Iterator[WrittenBlock]:
    """Yield tables and what stands around them in reading order."""
    free = [run for run in runs if not any(_is_inside(run.box, table.box) for table in tables)]
    items = [*free, *(TextLine(table.text, 1.0, table.box) for table in tables)]
    for block in arrange(items):
        for has_table, lines in groupby(block, lambda line: max(line) >= len(free)):
            if not has_table:
                yield _text_block(items, list(lines), scale)
                continue
            for index in chain.from_iterable(lines):
                if index < len(free):
                    yield _text_block(items, [[index]], scale)
                else:
                    yield WrittenBlock((), 0.0, tables[index - len(free)])


def _is_inside(box: Rect, table: Rect) -> bool:
    """Say whether a run belongs to a table."""
    return box.overlap(table) > _INSIDE * box.area


def _text_block(runs: Sequence[TextLine], block: list[list[int]], scale: float) -> WrittenBlock:
    """Write the lines of a block."""
    lines = tuple(" ".join(runs[index].text for index in line) for line in block)
    heights = [max(runs[index].box.height for index in line) for line in block]
    return WrittenBlock(lines, scale * median(heights))


def write(pages: Iterable[Sequence[WrittenBlock]], output: str) -> str:
    """Write a document.

    Args:
        pages: the blocks of each page.
        output: one of OUTPUTS.

    Returns:
        Blocks divided by an empty line. In plain text lines stay lines; in Markdown a paragraph
        is one line, and words are whole again that the end of a line divided.
    """
    blocks = [block for page in pages for block in page]
    if output != MARKDOWN:
        return "\n\n".join("\n".join(block.lines) for block in blocks)
    levels = _heading_levels(blocks)
    return "\n\n".join(
        _paragraph(block, levels.get(_size(block), 0))
        if block.table is None
        else _table(block.table)
        for block in blocks
    )


def _size(block: WrittenBlock) -> int:
    """Return the height of a block's print in whole pixels."""
    return round(block.height)


def _heading_levels(blocks: Sequence[WrittenBlock]) -> dict[int, int]:
    """Give levels to the sizes of print that are larger than that of most text."""
    weights: Counter[int] = Counter()
    for block in blocks:
        weights[_size(block)] += sum(map(len, block.lines))
    least = _HEADING * weighted_median([*weights.items()])
    levels: dict[int, int] = {}
    level, largest = 0, 0.0
    for size in sorted((size for size in weights if size > least), reverse=True):
        if size * _HEADING < largest or not level:
            level, largest = min(level + 1, _LEVELS), size
        levels[size] = level
    return levels


def _paragraph(block: WrittenBlock, level: int) -> str:
    """Write a block of text as a heading, an item of a list or a paragraph."""
    text = _joined(block.lines)
    if level and len(block.lines) <= _LONGEST:
        return f"{'#' * level} {_escaped(text)}"
    bullet = _BULLET.match(text)
    return _escaped(text) if bullet is None else f"- {_escaped(text[bullet.end() :])}"


def _joined(lines: Sequence[str]) -> str:
    """Join lines to one; a word that a hyphen divides at the end of a line becomes whole."""
    text = ""
    for line in lines:
        if _DIVIDED.search(text) and line[:1].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text


def _escaped(text: str) -> str:
    """Escape what Markdown would not show as it stands."""
    escaped = _SPECIAL.sub(r"\\\g<0>", text)
    mark = _LIST_MARK.match(escaped)
    if mark is None:
        return escaped
    at = mark.start() if mark[0] in "-+" else mark.end()
    return f"{escaped[:at]}\\{escaped[at:]}"


def _table(table: Table) -> str:
    """Write a table with pipes; without a heading its first row is empty."""
    columns = max(cell.column + cell.column_span - 1 for cell in table.cells)
    rows: dict[int, list[Cell]] = {}
    for cell in table.cells:
        rows.setdefault(cell.row, []).append(cell)
    lines = [_row(cells, columns) for _, cells in sorted(rows.items())]
    if not any(cell.kind == COLUMN_HEADER for cell in rows[min(rows)]):
        lines.insert(0, _row([], columns))
    lines.insert(1, "|" + " --- |" * columns)
    return "\n".join(lines)


def _row(cells: Iterable[Cell], columns: int) -> str:
    """Write a row."""
    texts = [""] * columns
    for cell in cells:
        texts[cell.column - 1] = _SPECIAL.sub(r"\\\g<0>", cell.text)
    return "| " + " | ".join(texts) + " |"
