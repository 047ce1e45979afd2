"""Candidate regions for tables without ruled cells."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.unruled.regions import Region, aligned_regions, ruled_regions


def piece(text: str, x: float, y: float, width: float = 60) -> TextLine:
    """Return a span 16 pixels high by its top left corner."""
    return TextLine(text, 1.0, Rect(x, y, x + width, y + 16))


def rows(first: int, last: int, left: float = 0.0) -> list[TextLine]:
    """Return rows of three pieces, 30 apart."""
    return [
        piece(f"{r}{c}", left + 120 * c, 30.0 * r) for r in range(first, last) for c in range(3)
    ]


def words(region: Region) -> set[str]:
    """Return the texts of a region."""
    return {piece.text for piece in region.pieces}


def rule(y: float, left: float = 0, right: float = 300) -> Ruling:
    """Return a horizontal rule."""
    return Ruling(y, left, right, 2)


def test_rules_of_one_width_hold_a_region() -> None:
    """Text between the first and last of equally wide rules is a region, without its caption."""
    caption = piece("Table 1. What was sold in the long spring of that year", 0, -50, 300)
    note = piece("These are the figures of the board for the whole of the year", 0, 200, 300)
    (region,) = ruled_regions([caption, *rows(0, 6), note], [rule(-8), rule(22), rule(176)], 20)
    assert region.is_ruled
    assert words(region) == {f"{r}{c}" for r in range(6) for c in range(3)}


def test_aligned_rows_are_a_region_and_prose_ends_it() -> None:
    """Aligned rows are a region, which a line of prose ends."""
    prose = [
        piece("and so it was agreed by all members of the board", 0, 180 + 24 * n, 360)
        for n in range(4)
    ]
    found = list(aligned_regions([*rows(0, 5), *prose], [], 20))
    assert [words(region) for region in found] == [{f"{r}{c}" for r in range(5) for c in range(3)}]
    assert not found[0].is_ruled


def test_a_rule_in_aligned_rows_speaks_for_a_table() -> None:
    """A rule as wide as the text marks the region as ruled."""
    (region,) = aligned_regions(rows(0, 5), [rule(22)], 20)
    assert region.is_ruled


def test_far_rows_are_apart() -> None:
    """A gap much wider than usual ends a region."""
    found = list(aligned_regions([*rows(0, 4), *rows(12, 16)], [], 20))
    assert [len(region.pieces) for region in found] == [12, 12]


def test_second_lines_at_the_end_belong() -> None:
    """Wrapped text of the last row belongs to the region, text further below does not."""
    last = [piece("more", 120, 30 * 3 + 18), piece("note", 0, 30 * 3 + 80)]
    (region,) = aligned_regions([*rows(0, 4), *last], [], 20)
    assert "more" in words(region)
    assert "note" not in words(region)


def test_nothing_gives_nothing() -> None:
    """No text gives no region."""
    assert list(aligned_regions([], [], 20)) == []
    assert list(ruled_regions([], [rule(0), rule(100)], 20)) == []


def test_headlines_are_in_no_region() -> None:
    """Letters much higher than usual, as in a letterhead, are in no region."""
    name = TextLine("Orchid", 1.0, Rect(0, -60, 120, -30))
    title = TextLine("Invoice", 1.0, Rect(240, -60, 300, -30))

    (region,) = aligned_regions([name, title, *rows(0, 4)], [], 16)

    assert words(region) == {f"{r}{c}" for r in range(4) for c in range(3)}
