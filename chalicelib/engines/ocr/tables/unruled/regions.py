"""Finds regions that may be tables without ruled cells.

Such regions are between horizontal lines of the same width, or their text is aligned in columns.
sifting.py decides later which regions are tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.rows import group_rows, pieces_inside
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.unruled.growing import Growing, Region


def ruled_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield a region for the text between each group of horizontal lines of the same width."""
    for group in _rule_groups(rulings, text_height):
        box = Rect(
            min(rule.start for rule in group),
            group[0].position,
            max(rule.end for rule in group),
            group[-1].position,
        )
        inside = tuple(pieces_inside(pieces, box))
        if len(inside) > 1:
            yield Region(inside, box, is_ruled=True)


def _rule_groups(rulings: Sequence[Ruling], text_height: float) -> list[list[Ruling]]:
    """Group at least two lines that begin and end at the same x, from top to bottom."""
    groups: list[list[Ruling]] = []
    for rule in rulings:
        for group in groups:
            first = group[0]
            if max(abs(first.start - rule.start), abs(first.end - rule.end)) <= (
                settings.NEAR_RULE_EMS * text_height
            ):
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [group for group in groups if len(group) > 1]


def aligned_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield regions of consecutive rows that leave the same gutters free."""
    growing = Growing(text_height)
    body = [piece for piece in pieces if piece.box.height < settings.HEADLINE_TIMES * text_height]
    for row in group_rows(body):
        if not growing.takes(row):
            yield from growing.regions(rulings)
            growing = Growing(text_height)
            growing.takes(row)
    yield from growing.regions(rulings)
