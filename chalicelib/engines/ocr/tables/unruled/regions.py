"""Finds regions that may be tables without ruled cells.

They are between horizontal lines of the same width, or their text is aligned in columns.
sifting.py decides later which regions are tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.tables import measures
from chalicelib.engines.ocr.tables.heading import is_wordy
from chalicelib.engines.ocr.tables.rows import group_rows
from chalicelib.engines.ocr.tables.rulings import Ruling
from chalicelib.engines.ocr.tables.unruled.growing import Growing, Region


def ruled_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield the text between horizontal lines of the same width, as a region.

    Args:
        pieces: text outside other tables.
        rulings: horizontal ruled lines outside other tables.
        text_height: the usual height of a line, in pixels.
    """
    for group in _rule_groups(rulings, text_height):
        for part in _parted_by_prose(group, pieces, text_height):
            box = Rect(
                min(rule.start for rule in part),
                part[0].position,
                max(rule.end for rule in part),
                part[-1].position,
            )
            inside = _trimmed(piece for piece in pieces if _is_inside(piece.box, box))
            if len(inside) > 1:
                yield Region(inside, box, is_ruled=True)


def _trimmed(pieces: Iterable[TextLine]) -> tuple[TextLine, ...]:
    """Remove captions and notes: rows of a single long piece at the top and the bottom."""
    rows = group_rows(pieces)
    for end in (0, -1):
        while rows and len(rows[end]) == 1 and is_wordy(rows[end][0].text):
            rows.pop(end)
    return tuple(piece for row in rows for piece in row)


def _rule_groups(rulings: Sequence[Ruling], text_height: float) -> list[list[Ruling]]:
    """Group at least two lines that begin and end at the same x, from top to bottom."""
    groups: list[list[Ruling]] = []
    for rule in rulings:
        for group in groups:
            first = group[0]
            if max(abs(first.start - rule.start), abs(first.end - rule.end)) <= (
                measures.SAME_RULE_END_EMS * text_height
            ):
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [group for group in groups if len(group) > 1]


def _parted_by_prose(
    group: Sequence[Ruling], pieces: Sequence[TextLine], text_height: float
) -> Iterator[list[Ruling]]:
    """Split a group of lines where prose, or a large empty area, is between two of them."""
    part = [group[0]]
    for rule in group[1:]:
        band = Rect(rule.start, part[-1].position, rule.end, rule.position)
        between = [piece for piece in pieces if _is_inside(piece.box, band)]
        is_far = not between and band.height > measures.BAND_EMS * text_height
        if is_far or _is_prose(between):
            if len(part) > 1:
                yield part
            part = []
        part.append(rule)
    if len(part) > 1:
        yield part


def _is_prose(pieces: Sequence[TextLine]) -> bool:
    """Return whether each row of text is a single long piece, as in prose."""
    rows = group_rows(pieces)
    lone = sum(1 for row in rows if len(row) == 1 and is_wordy(row[0].text))
    return len(rows) > 0 and lone > 0.5 * len(rows)


def _is_inside(box: Rect, outer: Rect) -> bool:
    """Return whether the centre of a box is inside another one."""
    x, y = box.center
    return outer.min_x <= x <= outer.max_x and outer.min_y <= y <= outer.max_y


def aligned_regions(
    pieces: Sequence[TextLine], rulings: Sequence[Ruling], text_height: float
) -> Iterator[Region]:
    """Yield regions of consecutive rows that leave the same gutters free.

    Args:
        pieces: text outside other tables.
        rulings: horizontal ruled lines outside other tables.
        text_height: the usual height of a line, in pixels.
    """
    growing = Growing(text_height)
    body = [piece for piece in pieces if piece.box.height < measures.HEADLINE_TIMES * text_height]
    for row in group_rows(_without_prose(body, text_height)):
        if not growing.takes(row):
            yield from growing.regions(rulings)
            growing = Growing(text_height)
            growing.takes(row)
    yield from growing.regions(rulings)


def _without_prose(pieces: Sequence[TextLine], text_height: float) -> list[TextLine]:
    """Remove paragraphs: three or more long lines with nothing to their left or right."""
    stacks = _stacks(pieces, text_height)
    prose = {
        id(piece)
        for stack in stacks
        if len(stack) > 2
        and sum(is_wordy(piece.text) for piece in stack) >= measures.PROSE_SHARE * len(stack)
        for piece in stack
    }
    return [piece for piece in pieces if id(piece) not in prose]


def _stacks(pieces: Iterable[TextLine], text_height: float) -> list[list[TextLine]]:
    """Group closely spaced lines that begin at the same x, one below the other."""
    stacks: list[list[TextLine]] = []
    open_stacks: list[list[TextLine]] = []
    for piece in sorted(pieces, key=lambda piece: piece.box.min_y):
        open_stacks = [
            stack
            for stack in open_stacks
            if piece.box.min_y - stack[-1].box.max_y <= measures.PROSE_LINE_EMS * text_height
        ]
        for stack in open_stacks:
            last = stack[-1].box
            if abs(last.min_x - piece.box.min_x) <= measures.PROSE_EDGE_EMS * text_height and (
                piece.box.min_y >= last.center[1]
            ):
                stack.append(piece)
                break
        else:
            stacks.append([piece])
            open_stacks.append(stacks[-1])
    return stacks
