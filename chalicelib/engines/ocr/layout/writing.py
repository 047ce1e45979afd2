"""Writes a document in reading order, as plain text or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from itertools import compress
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.findings import Cell, Table
from chalicelib.domain.documents.layout import MARKDOWN, WrittenBlock
from chalicelib.domain.documents.page import ReadPage, TextLine, around
from chalicelib.engines.ocr.layout.blocks import Block, arrange, without_mark
from chalicelib.engines.ocr.layout.columns import Row
from chalicelib.engines.ocr.layout.markdown import write_markdown
from chalicelib.engines.ocr.layout.roles import heading_levels

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles


def written_blocks(
    page: ReadPage, runs: Sequence[TextLine], tables: Sequence[Table]
) -> tuple[WrittenBlock, ...]:
    """Return the text blocks and tables of a page in reading order.

    Args:
        page: the page that contains the runs.
        runs: items of the task `text`.
        tables: tables of the page; each replaces the runs inside its cells.
    """
    cells = [cell for table in tables for cell in table.cells if cell.text]
    edges = np.array([astuple(cell.box) for cell in cells]).reshape(-1, 4)
    free = [run for run in runs if not _is_in_cells(run, cells, edges)]
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


def _is_in_cells(run: TextLine, cells: Sequence[Cell], edges: Doubles) -> bool:
    """Return whether the cells at a run's place contain each of its words.

    Args:
        run: a run of words.
        cells: cells of tables.
        edges: left, top, right and bottom edge of each cell.
    """
    box = run.box
    found = np.all(
        (edges[:, :2] < (box.max_x, box.max_y)) & (edges[:, 2:] > (box.min_x, box.min_y)), axis=1
    )
    there = {word for cell in compress(cells, found.tolist()) for word in cell.text.split()}
    return there.issuperset(run.text.split())


def _text_block(runs: Sequence[TextLine], block: Block, scale: float) -> WrittenBlock:
    """Return the text of a block's lines, with the block's box, letter height and bold type."""

    def text_of(row: Row) -> str:
        return " ".join(runs[part.index].text[part.begin : part.end] for part in row)

    flows_on = tuple(map(block.flows_on, range(len(block.rows) - 1)))
    height = median(max(part.size for part in without_mark(row)) for row in block.rows)
    parts = [runs[part.index] for row in block.rows for part in row]
    box = around(run.box for run in parts)
    is_bold = all(run.is_bold for run in parts)
    lines = tuple(map(text_of, block.rows))
    cells = tuple(tuple(map(text_of, row)) for row in block.columns())
    lefts = tuple(scale * row[0].left for row in block.rows)
    return WrittenBlock(lines, flows_on, scale * height, None, box, is_bold, lefts, cells)


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
    if output == MARKDOWN:
        return write_markdown(blocks, heading_levels(blocks))
    return "\n\n".join("\n".join(block.lines) for block in blocks)
