"""Writes a document in reading order, as plain text or as Markdown.

In Markdown, every special character of the page's text is escaped, including HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import median

from chalicelib.domain.documents.findings import COLUMN_HEADER, Cell, Table
from chalicelib.domain.documents.layout import MARKDOWN, WrittenBlock
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine, around
from chalicelib.engines.ocr.layout.blocks import Block, arrange
from chalicelib.engines.ocr.layout.roles import heading_levels

# Minimum fraction of a run's area inside a table to which it belongs.
_INSIDE = 0.5
# Characters with a meaning anywhere in Markdown.
_SPECIAL = re.compile(r"[\\`*_#\[\]<>|~&]")
# Characters with a meaning at the beginning of a line.
_LIST_MARK = re.compile(r"([-+]|[0-9]{1,9}(?=[.)]))")
_BULLET = re.compile(r"[•·‣–-] +(?=\S)")
# Ends a line within a paragraph.
_BREAK = "\\\n"
# End of a line with a hyphenated word.
_DIVIDED = re.compile(r"[^\W\d_]-$")


def written_blocks(
    page: ReadPage, runs: Sequence[TextLine], tables: Sequence[Table]
) -> tuple[WrittenBlock, ...]:
    """Return the text blocks and tables of a page in reading order.

    Args:
        page: the page that contains the runs.
        runs: items of the task `text`.
        tables: tables of the page; each replaces the runs inside it.
    """
    free = [run for run in runs if not any(_is_inside(run.box, table.box) for table in tables)]
    boxes = [table.box for table in tables]
    found: list[WrittenBlock] = []
    for block in arrange(free, is_exact=page.is_exact, places=boxes):
        for part in _without_tables(block, len(free)):
            number = part.rows[0][0].index - len(free)
            if number < 0:
                found.append(_text_block(free, part, page.page.scale))
            else:
                found.append(WrittenBlock((), (), 0.0, tables[number], tables[number].box))
    return tuple(found)


def _without_tables(block: Block, first: int) -> list[Block]:
    """Split a block that contains tables into one block for each table and each run of words."""
    if all(piece.index < first for row in block.rows for piece in row):
        return [block]
    return [Block([[piece]], block.right) for row in block.rows for piece in row]


def _is_inside(box: Rect, table: Rect) -> bool:
    return box.overlap(table) > _INSIDE * box.area


def _text_block(runs: Sequence[TextLine], block: Block, scale: float) -> WrittenBlock:
    """Return the text of a block's lines, with the block's box, letter height and bold type."""
    texts = ([runs[part.index].text[part.begin : part.end] for part in row] for row in block.rows)
    flows_on = tuple(map(block.flows_on, range(len(block.rows) - 1)))
    height = median(max(part.size for part in row) for row in block.rows)
    parts = [runs[part.index] for row in block.rows for part in row]
    box = around(run.box for run in parts)
    is_bold = all(run.is_bold for run in parts)
    lines = tuple(map(" ".join, texts))
    return WrittenBlock(lines, flows_on, scale * height, None, box, is_bold)


def write(pages: Iterable[Sequence[WrittenBlock]], output: str) -> str:
    """Write a document as text or Markdown.

    Args:
        pages: the blocks of each page.
        output: one of OUTPUTS.

    Returns:
        The text, with blocks separated by an empty line. In plain text, lines stay separate. In
        Markdown, wrapped lines and words that were split at a line end are joined.
    """
    blocks = [block for page in pages for block in page]
    if output != MARKDOWN:
        return "\n\n".join("\n".join(block.lines) for block in blocks)
    return "\n\n".join(
        _paragraph(block, level) if block.table is None else _table(block.table)
        for block, level in zip(blocks, heading_levels(blocks), strict=True)
    )


def _paragraph(block: WrittenBlock, level: int) -> str:
    """Write a block of text as a heading, a list item or a paragraph."""
    lines = _joined(block)
    if level:
        return f"{'#' * level} {_escaped(' '.join(lines))}"
    bullet = _BULLET.match(lines[0])
    if bullet is None:
        return _BREAK.join(map(_escaped, lines))
    lines[0] = lines[0][bullet.end() :]
    return "- " + f"{_BREAK}  ".join(map(_escaped, lines))


def _joined(block: WrittenBlock) -> list[str]:
    """Join the wrapped lines of a block, and words that were hyphenated at a line end."""
    lines = [block.lines[0]]
    for line, flows_on in zip(block.lines[1:], block.flows_on, strict=True):
        if not flows_on:
            lines.append(line)
        elif _DIVIDED.search(lines[-1]) and line[:1].islower():
            lines[-1] = lines[-1][:-1] + line
        else:
            lines[-1] += f" {line}"
    return lines


def _escaped(text: str) -> str:
    """Escape all characters that Markdown would interpret."""
    escaped = _SPECIAL.sub(r"\\\g<0>", text)
    mark = _LIST_MARK.match(escaped)
    if mark is None:
        return escaped
    at = mark.start() if mark[0] in "-+" else mark.end()
    return f"{escaped[:at]}\\{escaped[at:]}"


def _table(table: Table) -> str:
    """Write a table in Markdown; if it has no column header, an empty header row is written."""
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
    texts = [""] * columns
    for cell in cells:
        texts[cell.column - 1] = _SPECIAL.sub(r"\\\g<0>", cell.text)
    return "| " + " | ".join(texts) + " |"
