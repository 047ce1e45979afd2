"""Compares found tables with true tables: adjacency relations, cell F1, TEDS.

Adjacency relations are the metric of the ICDAR 2013 table competition. A cell with text has a
relation to the next cell with text on its right, for each row that it covers. It also has a
relation to the next cell with text below it, for each column. Texts are compared without spaces.
Cell F1 compares row, column, spans and text. TEDS is one minus the edit distance of two HTML trees,
divided by the size of the larger tree. A changed cell costs the normalised edit distance of its
text, or 1 if its spans differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from apted import APTED, Config
from rapidfuzz.distance import Levenshtein

from bench.ocr_text_metrics import Tally
from chalicelib.domain.documents.findings import COLUMN_HEADER, Table
from chalicelib.domain.documents.page import Rect

Relation = tuple[str, str, str]
"""A text, its neighbour's text, and `right` or `below`."""
TEDS_LIMIT = 3_000
"""Most nodes of two trees together; the time of the distance grows faster than their product."""


@dataclass(frozen=True, slots=True)
class GridText:
    """A cell of a true or found table, in the form that metrics compare."""

    row: int
    """First row; rows may count from any number, the same for all cells of a table."""
    column: int
    """First column."""
    text: str
    """Text, which may be empty."""
    row_span: int = 1
    """Number of rows that the cell covers."""
    column_span: int = 1
    """Number of columns that the cell covers."""
    is_head: bool = False
    """Whether it is in the table's head."""


def cells_of(table: Table) -> tuple[GridText, ...]:
    """Convert a found table to the form that metrics compare. Rows and columns start at 1."""
    return tuple(
        GridText(
            cell.row,
            cell.column,
            cell.text,
            cell.row_span,
            cell.column_span,
            cell.kind == COLUMN_HEADER,
        )
        for cell in table.cells
    )


def plain(text: str) -> str:
    """Return a text without any white space."""
    return "".join(text.split())


def adjacency_relations(cells: Iterable[GridText]) -> Counter[Relation]:
    """Return the adjacency relations of one table; empty cells are skipped."""
    inked = [cell for cell in cells if plain(cell.text)]
    pairs = {*_neighbours(inked, is_row=True), *_neighbours(inked, is_row=False)}
    return Counter(
        (plain(inked[first].text), plain(inked[second].text), direction)
        for first, second, direction in pairs
    )


def _neighbours(cells: Sequence[GridText], *, is_row: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the indexes of two adjacent cells in a row or column, and the direction."""
    direction = "right" if is_row else "below"
    lanes: dict[int, list[tuple[int, int]]] = {}
    for number, cell in enumerate(cells):
        across, along = (cell.row, cell.column) if is_row else (cell.column, cell.row)
        for lane in range(across, across + (cell.row_span if is_row else cell.column_span)):
            lanes.setdefault(lane, []).append((along, number))
    for lane_cells in lanes.values():
        ordered = sorted(lane_cells)
        for (_, first), (_, second) in pairwise(ordered):
            yield first, second, direction


def count_relations(
    found: Iterable[Iterable[GridText]], truth: Iterable[Iterable[GridText]]
) -> Tally:
    """Count the adjacency relations of all tables of one page or document.

    Tables are not paired. All relations of a table that does not exist count as wrong, and all
    relations of a table that was not found count as missing.
    """
    found_relations = _sum(map(adjacency_relations, found))
    true_relations = _sum(map(adjacency_relations, truth))
    return Tally(
        (found_relations & true_relations).total(),
        found_relations.total(),
        true_relations.total(),
    )


def _sum(counters: Iterable[Counter[Relation]]) -> Counter[Relation]:
    total: Counter[Relation] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def count_cells(found: Iterable[GridText], truth: Iterable[GridText]) -> Tally:
    """Compare the cells of one table, including empty cells, by row, column, spans and text.

    Rows and columns are numbered from the first row and column of each table.
    """
    found_cells, true_cells = _keyed(found), _keyed(truth)
    return Tally((found_cells & true_cells).total(), found_cells.total(), true_cells.total())


def _keyed(cells: Iterable[GridText]) -> Counter[tuple[int, int, int, int, str]]:
    """Count cells by row, column, spans and text. Rows and columns of the table start at 0."""
    kept = list(cells)
    top = min((cell.row for cell in kept), default=0)
    left = min((cell.column for cell in kept), default=0)
    return Counter(
        (
            cell.row - top,
            cell.column - left,
            cell.row_span,
            cell.column_span,
            plain(cell.text),
        )
        for cell in kept
    )


def pair_tables(found: Sequence[Rect], truth: Sequence[Rect]) -> tuple[tuple[int, int], ...]:
    """Pair found tables with true tables whose IoU is above .5. Return the best pairs first."""
    scored = sorted(
        (
            (_union_share(first, second), number, other)
            for number, first in enumerate(found)
            for other, second in enumerate(truth)
        ),
        reverse=True,
    )
    pairs: list[tuple[int, int]] = []
    for share, number, other in scored:
        used = any(number == pair[0] or other == pair[1] for pair in pairs)
        if share > 0.5 and not used:
            pairs.append((number, other))
    return tuple(pairs)


def _union_share(first: Rect, second: Rect) -> float:
    """Return the intersection over union of two rectangles."""
    shared = first.overlap(second)
    union = first.area + second.area - shared
    return shared / union if union else 0.0


@dataclass(eq=False, slots=True)
class _Node:
    """A node of the HTML tree of a table."""

    tag: str
    """table, thead, tbody, tr or td."""
    children: list[_Node]
    """Its children in order."""
    text: str = ""
    """The text of a td."""
    spans: tuple[int, int] = (1, 1)
    """Rows and columns that a td covers."""


class _Costs(Config):
    """The costs of edits of an HTML tree."""

    def rename(self, first: _Node, second: _Node) -> float:
        """Return the cost of turning one node into another."""
        if first.tag != second.tag or first.spans != second.spans:
            return 1.0
        if first.tag != "td" or not (first.text or second.text):
            return 0.0
        return float(Levenshtein.normalized_distance(first.text, second.text))

    def children(self, node: _Node) -> list[_Node]:
        return node.children


def teds(found: Iterable[GridText], truth: Iterable[GridText]) -> float:
    """Return the similarity (TEDS) of two tables as HTML trees with text; 1 if they are equal.

    Raises:
        ValueError: the trees are too large to be compared in a reasonable time.
    """
    trees = [_tree(list(cells)) for cells in (found, truth)]
    sizes = [_size(tree) for tree in trees]
    if sum(sizes) > TEDS_LIMIT:
        raise ValueError(f"trees of {sizes} nodes; together at most {TEDS_LIMIT}")
    distance = APTED(trees[0], trees[1], _Costs()).compute_edit_distance()
    return float(1.0 - distance / max(sizes))


def _tree(cells: Sequence[GridText]) -> _Node:
    """Return a table's HTML tree. First rows that have only header cells become the `thead`."""
    ordered = sorted(cells, key=lambda cell: (cell.row, cell.column))
    head, body = _Node("thead", []), _Node("tbody", [])
    target = head
    for _, row in groupby(ordered, key=lambda cell: cell.row):
        row_cells = list(row)
        if not all(cell.is_head for cell in row_cells):
            target = body
        target.children.append(_Node("tr", [_leaf(cell) for cell in row_cells]))
    return _Node("table", [part for part in (head, body) if part.children])


def _leaf(cell: GridText) -> _Node:
    return _Node("td", [], " ".join(cell.text.split()), (cell.row_span, cell.column_span))


def _size(node: _Node) -> int:
    return 1 + sum(_size(child) for child in node.children)
