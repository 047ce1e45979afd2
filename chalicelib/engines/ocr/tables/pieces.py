"""Splits lines of text into pieces, each of which is the text of one cell.

Text detectors join neighbouring cells to one line. Lines are split where a ruled line crosses
them, and where there is a wide gap in their ink. Boxes are then tightened to the ink.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from statistics import median

from chalicelib.domain.documents.page import ReadPage, Rect, TextLine
from chalicelib.engines.ocr.gaps import LineSplit, divide_exact, divide_inked, read_unclear
from chalicelib.engines.ocr.ink import Ink, find_ink
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.rulings import Ruling

_NARROW = frozenset(" .,:;'|!iljtfrI1()[]")
_STROKES = "|¦"


def text_height(lines: Iterable[TextLine]) -> float:
    """Return the usual height of a line, in pixels."""
    return max(settings.LEAST_TEXT_PIXELS, float(median(line.box.height for line in lines)))


def cut_page(
    page: ReadPage, rulings: Sequence[Ruling], engine: TextEngine, check: CancelCheck
) -> tuple[TextLine, ...]:
    """Split the lines of an upright page into pieces of text with upright boxes around their ink.

    The caller has erased ruled lines from the pixels of the page; `rulings` has the vertical ruled
    lines. The engine reads a piece again if it is unclear which characters belong to it.
    """
    lines = [piece for line in page.lines for piece in cut_at_rulings(line, rulings)]
    if page.is_exact or page.pixels is None:
        return tuple(
            piece for line in lines for piece in divide_exact(line, settings.CELL_GAP_HEIGHTS)
        )
    inks: list[Ink | None] = []
    for line in lines:
        check()
        inks.append(find_ink(page.pixels, line))
    heights = [ink.height * line.box.width for line, ink in zip(lines, inks, strict=True) if ink]
    usual = float(median(heights)) if heights else 0.0
    gap = _least_gap(lines, inks)
    divisions = [_divided(line, ink, usual, gap) for line, ink in zip(lines, inks, strict=True)]
    return read_unclear(page.pixels, divisions, engine, check)


def _least_gap(lines: Sequence[TextLine], inks: Sequence[Ink | None]) -> float:
    """Return the smallest width of a gap between cells on this page, in line heights.

    In some typefaces, above all monospaced ones, words are far apart. The result is therefore
    larger than most gaps between words on the page.
    """
    spaces: list[float] = []
    for line, ink in zip(lines, inks, strict=True):
        words = line.text.count(" ")
        if ink is not None and ink.height > 0 and words:
            white = sorted(start - end for (_, end), (start, _) in pairwise(ink.spans))
            spaces += [gap / ink.height for gap in white[-words:]]
    if not spaces:
        return settings.CELL_GAP_HEIGHTS
    usual = sorted(spaces)[int(settings.NARROW_SPACES_SHARE * len(spaces))]
    return min(
        2 * settings.CELL_GAP_HEIGHTS,
        max(settings.CELL_GAP_HEIGHTS, settings.GAP_TO_WORD_SPACE * usual),
    )


def _divided(line: TextLine, ink: Ink | None, usual: float, gap: float) -> LineSplit:
    """Split a line at gaps that are wide compared with its height and the usual line height."""
    if ink is None or ink.height <= 0:
        return LineSplit((line,))
    height = ink.height * line.box.width
    least = gap * max(height, usual)
    return divide_inked(line, ink, least / max(1.0, height))


def cut_at_rulings(line: TextLine, rulings: Sequence[Ruling]) -> list[TextLine]:
    """Split an upright line where vertical ruled lines cross its whole height.

    Return the pieces with text, from left to right.
    """
    box = line.box
    margin = settings.RULE_SLACK_HEIGHTS * box.height
    crossing = sorted(
        ruling.position
        for ruling in rulings
        if box.min_x + margin < ruling.position < box.max_x - margin
        and ruling.start <= box.min_y + settings.RULE_SLACK_HEIGHTS * box.height
        and ruling.end >= box.max_y - settings.RULE_SLACK_HEIGHTS * box.height
    )
    return cut(line, crossing) if crossing else [line]


def cut(line: TextLine, marks: Sequence[float]) -> list[TextLine]:
    """Split an upright line at the x positions `marks`; return the pieces with visible text."""
    places = _places(line)
    # From left to right, which is not the order of Hebrew or Arabic text.
    order = sorted(range(len(line.text)), key=places.__getitem__)
    shown, at = "".join(line.text[index] for index in order), [places[index] for index in order]
    width = line.box.width or 1.0
    near = (_break(shown, at, (mark - line.box.min_x) / width) for mark in marks)
    breaks = [*accumulate(near, max, initial=0), len(line.text)]
    sides = [line.box.min_x, *marks, line.box.max_x]
    pieces = (
        _piece(line, places, sorted(order[first:last]), ends)
        for (first, last), ends in zip(pairwise(breaks), pairwise(sides), strict=True)
    )
    return [piece for piece in pieces if piece]


def _places(line: TextLine) -> tuple[float, ...]:
    """Return the relative position of each character, estimated if the engine returned none."""
    if len(line.places) == len(line.text):
        return line.places
    widths = [0.5 if character in _NARROW else 1.0 for character in line.text]
    ends = list(accumulate(widths))
    return tuple((end - width / 2) / ends[-1] for end, width in zip(ends, widths, strict=True))


def _break(text: str, places: Sequence[float], middle: float) -> int:
    """Return the index of the character before which to split, if possible at a space."""
    slack = 1.5 / max(1, len(text))
    near = [
        number
        for number, character in enumerate(text)
        if character in f" {_STROKES}" and abs(places[number] - middle) <= slack
    ]
    if near:
        return min(near, key=lambda number: abs(places[number] - middle))
    return sum(1 for place in places if place < middle)


def _piece(
    line: TextLine, places: Sequence[float], characters: list[int], sides: tuple[float, float]
) -> TextLine | None:
    """Return some characters of a line as a separate line; None if none is visible."""
    seen = [n for n, index in enumerate(characters) if line.text[index] not in f" {_STROKES}"]
    if not seen or sides[1] - sides[0] < 1:
        return None
    characters = characters[seen[0] : seen[-1] + 1]
    box = line.box
    share = (box.width or 1.0) / (sides[1] - sides[0])
    shift = (sides[0] - box.min_x) / (box.width or 1.0)
    return TextLine(
        "".join(line.text[index] for index in characters),
        line.probability,
        Rect(sides[0], box.min_y, sides[1], box.max_y),
        None,
        tuple(min(1.0, max(0.0, (places[index] - shift) * share)) for index in characters),
    )
