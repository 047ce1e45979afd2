"""The score that chooses between proposed table structures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.grid import FilledGrid, text_of
from chalicelib.engines.ocr.tables.proposals import (
    join_head,
    join_near,
    join_to_values,
    region_structures,
    split_rows,
)
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings
from chalicelib.engines.ocr.tables.scoring import (
    ALIGNMENT,
    INPUTS,
    LATTICE,
    Structure,
    fitted_weights,
    likelihood,
)
from chalicelib.engines.ocr.tables.unruled.regions import Region
from tests.engines.ocr.tables.test_sifting import filled

NO_RULES = Rulings((), ())
ROWS = [["Place", "Boats", "Nets"], ["Kelby", "12", "48"], ["Orrin", "7", "19"]]
JOINED = [["Place", "Boats", "Nets"], ["Kelby|Orrin", "12|7", "48|19"]]
WRAPPED = [["Harbour", "", ""], ["of Kelby", "12", "48"], ["Tarn", "4", "11"]]


def score(structure: FilledGrid, source: str = ALIGNMENT, rules: Rulings = NO_RULES) -> float:
    """Return the probability that a structure is right."""
    return likelihood(Structure(structure, source, rules))


def texts(structure: FilledGrid) -> list[list[str]]:
    """Return the texts of a structure row by row."""
    rows: dict[int, list[str]] = {}
    for slot, lines in zip(structure.grid.slots, structure.texts, strict=True):
        rows.setdefault(slot.row, []).append(" ".join(line.text for line in lines))
    return [rows[row] for row in sorted(rows)]


def test_every_input_has_a_weight() -> None:
    """Weights and inputs have the same names."""
    assert set(fitted_weights().weights) == set(INPUTS)


def test_joined_rows_are_less_likely() -> None:
    """A structure that joins two rows of values scores lower."""
    whole = filled(ROWS)

    assert score(filled(JOINED)) < score(whole)


def test_a_cell_of_thousands_of_characters_is_never_certain() -> None:
    """A cell of thousands of characters lowers the score."""
    whole = filled(ROWS)
    box = whole.texts[4][0].box
    prose = TextLine("word " * 800, 1.0, box)
    cells = [(prose,) if number == 4 else lines for number, lines in enumerate(whole.texts)]

    assert score(FilledGrid(whole.grid, tuple(cells)), LATTICE) < min(0.85, score(whole, LATTICE))


def test_tables_without_names_are_possible() -> None:
    """Tables without a header, or without a name for the first column, score above one half."""
    body = [*ROWS[1:], ["Tarn", "4", "11"], ["Elm", "9", "3"]]

    assert score(filled(body)) > 0.5
    assert score(filled([["", *ROWS[0][1:]], *body])) > 0.5


def test_columns_of_prose_are_hardly_a_table() -> None:
    """Columns of prose score low."""
    line = "and so the whole of the matter was put"

    assert score(filled([[line] * 3] * 5)) < 0.05


def test_a_rule_between_texts_of_one_cell_counts_against_the_cell() -> None:
    """A rule between two texts of one cell lowers the score."""
    joined = filled(JOINED)
    upper, lower = joined.texts[3]
    y = (upper.box.center[1] + lower.box.center[1]) / 2
    rule = Ruling(y, joined.grid.box.min_x - 50, joined.grid.box.max_x + 500, 2)

    assert score(joined, rules=Rulings((rule,), ())) < score(joined)


def test_rows_that_are_split_have_one_line_of_text_each() -> None:
    """Splitting rows gives each one line of text, and keeps the header and all text."""
    joined = filled(JOINED)

    assert texts(split_rows(joined, 1)) == ROWS


def test_a_row_without_values_joins_the_nearer_row() -> None:
    """A row without values is joined to the nearer row."""
    whole = filled(WRAPPED)
    lines = list(whole.texts)
    # The second line of the name is just below the first.
    height = lines[0][0].box.height
    lift = lines[3][0].box.min_y - lines[0][0].box.max_y - 0.1 * height
    for number in (3, 4, 5):
        (line,) = lines[number]
        box = line.box
        moved = Rect(box.min_x, box.min_y - lift, box.max_x, box.max_y - lift)
        lines[number] = (replace(line, box=moved),)

    joined = join_to_values(FilledGrid(whole.grid, tuple(lines)))

    assert texts(joined) == [["Harbour of Kelby", "12", "48"], ["Tarn", "4", "11"]]


@pytest.mark.parametrize("pitch", [20, 40])
def test_white_of_two_widths_parts_rows(pitch: int) -> None:
    """Rows at two alternating distances are joined in pairs; evenly spaced rows are not."""
    whole = filled([["Site", "Mean"], *[["Elm", "4.5"], ["oak", "(0.2)"]] * 3])
    texts_at = [
        (replace(line, box=Rect(line.box.min_x, y, line.box.max_x, y + 16)),)
        for (line,), slot in zip(whole.texts, whole.grid.slots, strict=True)
        for y in ((slot.row + 1) // 2 * 80 + (slot.row % 2 == 0) * pitch,)
    ]

    joined = join_near(FilledGrid(whole.grid, tuple(texts_at)))

    assert len(texts(joined)) == (4 if pitch == 20 else len(texts(whole)))


@pytest.mark.parametrize("white", [0.1, 2.0])
def test_lines_of_a_header_are_joined_when_they_are_near(white: float) -> None:
    """Near lines of a header are joined; distant rows are not."""
    rows = [["Number", "Mean", ""], ["of boats", "size", "Share"], ["12", "4.5", "31"]]
    whole = filled(rows)
    lines = list(whole.texts)
    height = lines[0][0].box.height
    lift = lines[3][0].box.min_y - lines[0][0].box.max_y - white * height
    for number in range(3, 9):
        (line,) = lines[number]
        box = line.box
        moved = Rect(box.min_x, box.min_y - lift, box.max_x, box.max_y - lift)
        lines[number] = (replace(line, box=moved),)

    joined = join_head(FilledGrid(whole.grid, tuple(lines)))

    assert (texts(joined)[0] == ["Number of boats", "Mean size", "Share"]) == (white < 1)


def test_lines_of_names_are_joined_below_names_of_groups() -> None:
    """The names of columns have two lines, the row of group names above them stays a row."""
    rows = [["", "Summer", ""], ["Place", "Number", "Mean"], ["", "of boats", "size"], *ROWS[1:]]
    whole = filled(rows, pitch=12)
    first, summer, _, *slots = whole.grid.slots
    grid = replace(whole.grid, slots=(first, replace(summer, column_span=2), *slots))

    joined = join_head(FilledGrid(grid, (*whole.texts[:2], *whole.texts[3:])))

    assert texts(joined)[:2] == [["", "Summer"], ["Place", "Number of boats", "Mean size"]]


@pytest.mark.parametrize("x", [0, 185])
def test_names_of_groups_leave_the_first_column_free(x: float) -> None:
    """Other text above a table covers no columns, even if it is above a gap between columns."""
    rows = [["Place", "Boats", "Nets", "Boats", "Nets"], *[["Elm", "12", "9", "7", "31"]] * 4]
    places = [
        (text, 120.0 * c, 30.0 * r) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    places += [("all", x, -30.0), ("men", 425.0, -30.0)]
    pieces = [TextLine(text, 1.0, Rect(x, y, x + 50, y + 16)) for text, x, y in places]
    region = Region(tuple(pieces), Rect(0, -30, 540, 140))

    wide = {
        text_of(lines): slot.column_span
        for structure in region_structures(region, NO_RULES)
        for slot, lines in structure.filled.cells()
    }

    assert ((wide["all"], wide["men"]) == (2, 2)) == (x > 0)
