"""Text that may be a table is divided where it is two tables."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.page import Rect, TextLine, around
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings
from chalicelib.engines.ocr.tables.scoring import (
    BETWEEN_COLUMNS,
    BETWEEN_ROWS,
    Structure,
    TableCut,
    fitted_weights,
    likelihood,
)
from chalicelib.engines.ocr.tables.unruled.dividing import divided
from chalicelib.engines.ocr.tables.unruled.regions import Region

NO_RULES = Rulings((), ())
HEIGHT = 16
TEAMS = [["Team", "Won", "Lost"], ["Kelby", "11", "3"], ["Tarn", "9", "5"], ["Orrin", "8", "6"]]
SHOPS = [
    ["Shop", "Staff", "Rent"],
    ["Quay", "14", "220"],
    ["Park", "9", "140"],
    ["Pier", "7", "95"],
]


def drawn(
    rows: list[list[str]], left: float = 0, top: float = 0, pitch: float = 28
) -> list[TextLine]:
    """Return the pieces of rows of text in columns 100 pixels apart."""
    return [
        TextLine(text, 1.0, Rect(x, y, x + 9 * len(text), y + HEIGHT))
        for y, row in ((top + pitch * number, row) for number, row in enumerate(rows))
        for x, text in ((left + 100 * number, text) for number, text in enumerate(row))
        if text
    ]


def parts(pieces: list[TextLine], rulings: Rulings = NO_RULES) -> list[list[str]]:
    """Return the texts of the parts into which text is divided."""
    region = Region(tuple(pieces), around(piece.box for piece in pieces))
    return [
        [piece.text for piece in part.pieces]
        for part in divided(region, rulings, HEIGHT, likelihood)
    ]


def cuts_of(pieces: list[TextLine]) -> list[TableCut]:
    """Return the cuts that are weighed for a text that is not divided."""
    seen: list[TableCut] = []

    def weigh(each: Structure | TableCut) -> float:
        assert isinstance(each, TableCut)
        seen.append(each)
        return 0.0

    divided(Region(tuple(pieces), around(piece.box for piece in pieces)), NO_RULES, HEIGHT, weigh)
    return seen


def flat(rows: list[list[str]]) -> list[str]:
    """Return the texts of rows."""
    return [text for row in rows for text in row]


def test_weights_have_the_names_of_the_inputs() -> None:
    """Every input of a cut has a weight, and there are no other weights."""
    for cut in cuts_of([*drawn(TEAMS * 2), *drawn(SHOPS * 2, left=450)]):
        assert list(fitted_weights().cuts[cut.direction].weights) == list(cut.inputs)


def test_a_header_below_a_ruled_table_begins_another_one() -> None:
    """Two tables of the same columns, each with ruled lines above and below, are divided."""
    lines = [Ruling(y, -10, 240, 1.0) for y in (-6, 20, 106, 126, 152, 238)]

    found = parts([*drawn(TEAMS), *drawn(SHOPS, top=132)], Rulings(tuple(lines), ()))

    assert found == [flat(TEAMS), flat(SHOPS)]


def test_a_gap_between_rows_of_values_does_not_divide_a_table() -> None:
    """Groups of rows that a gap and a ruled line separate are one table."""
    pieces = [*drawn(TEAMS), *drawn(TEAMS[1:], top=126)]
    lines = [Ruling(y, -10, 240, 1.0) for y in (-6, 20, 116, 214)]

    assert len(parts(pieces, Rulings(tuple(lines), ()))) == 1


def test_tables_next_to_each_other_are_divided() -> None:
    """A gutter much wider than the others, with names on its right, is between two tables."""
    left, right = [*TEAMS, ["Saltmere", "5", "9"]], SHOPS

    assert parts([*drawn(left), *drawn(right, left=450)]) == [flat(left), flat(right)]


def test_numbers_far_from_their_names_stay_in_the_table() -> None:
    """Numbers on the right of a wide gutter belong to the names on its left."""
    numbers = [["Won", "Lost"], *([str(n), str(n + 4)] for n in range(3))]

    assert len(parts([*drawn(TEAMS), *drawn(numbers, left=450)])) == 1


def test_three_tables_below_each_other_are_three_parts() -> None:
    """Parts are divided again until no cut is probable."""
    rows = TEAMS * 3

    def weigh(each: Structure | TableCut) -> float:
        assert isinstance(each, TableCut)
        return float(each.direction == BETWEEN_ROWS and each.parts[1][0].text == "Team")

    region = Region(tuple(drawn(rows)), Rect(0, 0, 300, 336))

    found = divided(region, NO_RULES, HEIGHT, weigh)

    assert [[piece.text for piece in part.pieces] for part in found] == [flat(TEAMS)] * 3


@pytest.mark.parametrize(("probability", "count"), [(0.79, 1), (0.81, 2)])
def test_only_a_probable_cut_divides(probability: float, count: int) -> None:
    """A text is divided from a probability of 0.8."""
    region = Region(tuple(drawn(TEAMS + SHOPS)), Rect(0, 0, 300, 224))

    def weigh(each: Structure | TableCut) -> float:
        assert isinstance(each, TableCut)
        return probability if each.parts[1][0].text == "Shop" else 0.0

    assert len(divided(region, NO_RULES, HEIGHT, weigh)) == count


def test_each_part_has_enough_rows_and_columns() -> None:
    """No cut leaves fewer than three rows or two columns, which could not be a table."""
    cuts = cuts_of([*drawn(TEAMS), *drawn(SHOPS, left=450)])

    assert {cut.direction for cut in cuts if cut.direction == BETWEEN_COLUMNS} == {BETWEEN_COLUMNS}
    assert not [cut for cut in cuts if cut.direction == BETWEEN_ROWS]
    assert all(len({piece.box.min_x for piece in part}) > 1 for cut in cuts for part in cut.parts)


def test_a_huge_text_is_not_divided() -> None:
    """The time for a hostile page is limited: its cuts are not weighed."""
    rows = [[str(n), str(n)] for n in range(settings.MOST_PARTS)]

    assert cuts_of(drawn(rows)) == []


def test_text_in_one_column_is_not_cut_off() -> None:
    """Lines of a long text in one column of a table belong to the table above them."""
    rows = [*TEAMS, *([f"line {number}", "", ""] for number in range(4))]

    assert len(parts(drawn(rows))) == 1
    assert not [cut for cut in cuts_of(drawn(rows)) if len(cut.parts[0]) > 9]
