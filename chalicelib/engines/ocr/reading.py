"""Reads a page: from its text layer if it has one, otherwise from its pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from chalicelib.domain.documents.page import (
    EMPTY,
    UNREAD_INK,
    Page,
    PageNote,
    ReadPage,
    Rect,
    TextLine,
)
from chalicelib.engines.ocr.order import in_reading_order
from chalicelib.engines.ocr.spacing import spaced_lines
from chalicelib.engines.ocr.straightening import find_unrolling, straightened
from chalicelib.engines.ocr.turning import (
    needed_turns,
    reversed_quad,
    turned_lines,
    turned_pixels,
    turned_rects,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.domain.documents.page import Quad, Unrolling
    from chalicelib.engines.ocr.interface import CancelCheck, TextEngine

    _Reading = tuple[int, Pixels, Sequence[TextLine], Unrolling | None]
    """Number of quarter turns, rotated raster, its lines, and the mapping that straightened it."""

# Mean probability from which a page is certainly not upside down.
_CERTAIN = 0.9
# Number of lines, the longest, that are read again upside down to check a page.
_LOOKED_AT = 4
# Minimum difference of brightness on a page that is not blank. Then the factors by which a page is
# reduced to read it again if no text was found.
_INK, _SMALLER = 64, (2, 4)
# Minimum gain in probability for the other direction.
_CLEARLY = 0.05


def read_page(page: Page, engine: TextEngine, check: CancelCheck) -> ReadPage:
    """Read the text of a page.

    Args:
        page: the page, which has pixels, a text layer, or both.
        engine: engine for pages without a text layer.
        check: called between steps.

    Returns:
        The page, rotated by quarter turns until most of its text is read from left to right, and
        straightened if its lines are bent.
    """
    if page.layer is not None:
        return _exact(page, page.layer, _on_pictures(page, engine, check))
    if page.pixels is None:
        return ReadPage(page, 0, None, ())
    found = engine.read(page.pixels, check)
    lines = _with_text(found)
    if not found and (seen := _seen_smaller(page.pixels, engine, check)):
        return _spaced(page, (0, page.pixels, seen, None), check)
    turns = needed_turns(lines)
    if turns:
        return _turned(page, page.pixels, turns, engine, check)
    if _is_upside_down(page.pixels, lines, engine, check):
        return _turned(page, page.pixels, 2, engine, check)
    return _straightened(page, 0, page.pixels, found, engine, check)


def page_notes(page: ReadPage) -> tuple[PageNote, ...]:
    """Return notes about text that may be missing from the result, such as unread ink.

    The page must still have its pixels, if any.
    """
    codes = list(page.page.notes)
    if page.unread or (not page.lines and _has_ink(page.pixels)):
        codes.append(UNREAD_INK)
    elif not page.lines:
        codes.append(EMPTY)
    return tuple(PageNote(page.page.number, code) for code in codes)


def _has_ink(pixels: Pixels | None) -> bool:
    return pixels is not None and int(pixels.max()) - int(pixels.min()) >= _INK


def _seen_smaller(pixels: Pixels, engine: TextEngine, check: CancelCheck) -> list[TextLine]:
    """Find text on a page at half and a quarter of its size, if none was found at full size.

    Detectors may miss the only line of a large page. A page without ink is not read again.
    """
    if not _has_ink(pixels):
        return []
    for step in _SMALLER:
        check()
        found = _with_text(engine.read(pixels[::step, ::step], check))
        places = [_scaled(line.corners, step) for line in found]
        # Read at full size, which has the details of letters.
        read = engine.read_crops(pixels, places, check)
        if lines := [line for line in read if line is not None and line.text]:
            return lines
    return []


def _scaled(quad: Quad, scale: int) -> Quad:
    first, second, third, fourth = ((scale * x, scale * y) for x, y in quad)
    return first, second, third, fourth


def _on_pictures(page: Page, engine: TextEngine, check: CancelCheck) -> list[TextLine]:
    """Recognise the text in the images of a page that has a text layer.

    Lines that were detected but not recognised have an empty text.
    """
    found: list[TextLine] = []
    pixels = page.pixels
    if pixels is None:
        return found
    for rect in page.pictures:
        left, top = max(0, int(rect.min_x)), max(0, int(rect.min_y))
        crop = pixels[top : ceil(rect.max_y), left : ceil(rect.max_x)]
        read = engine.read(crop, check)
        lines = [*spaced_lines(crop, _with_text(read), check), *_without_text(read)]
        found += [_shifted(line, left, top) for line in lines]
    return found


def _shifted(line: TextLine, across: float, down: float) -> TextLine:
    """Convert a line's coordinates in a part of the raster to coordinates in the whole raster."""
    box = line.box
    moved = Rect(box.min_x + across, box.min_y + down, box.max_x + across, box.max_y + down)
    first, second, third, fourth = ((x + across, y + down) for x, y in line.corners)
    quad = None if line.quad is None else (first, second, third, fourth)
    return replace(line, box=moved, quad=quad, course=None)


def _without_text(lines: Sequence[TextLine]) -> list[TextLine]:
    return [line for line in lines if not line.text]


def _with_text(lines: Sequence[TextLine]) -> list[TextLine]:
    return [line for line in lines if line.text]


def _exact(page: Page, layer: tuple[TextLine, ...], pictured: Sequence[TextLine]) -> ReadPage:
    """Rotate a page with a text layer, and add the text recognised in its images."""
    turns = needed_turns(layer)
    read = [*layer, *_with_text(pictured)]
    lines = turned_lines(read, turns, page.width, page.height)
    boxes = [line.box for line in _without_text(pictured)]
    unread = tuple(turned_rects(boxes, turns, page.width, page.height))
    pixels = None if page.pixels is None else turned_pixels(page.pixels, turns)
    rules = page.rules and turned_rects(page.rules, turns, page.width, page.height)
    return ReadPage(page, turns, pixels, tuple(in_reading_order(lines)), True, rules, unread)


def _turned(
    page: Page, pixels: Pixels, turns: int, engine: TextEngine, check: CancelCheck
) -> ReadPage:
    """Rotate the pixels of a page and read it again, because upright text is read better."""
    turned = turned_pixels(pixels, turns)
    found = engine.read(turned, check)
    if turns % 2 and _is_upside_down(turned, _with_text(found), engine, check):
        turns = (turns + 2) % 4
        turned = turned_pixels(pixels, turns)
        found = engine.read(turned, check)
    return _straightened(page, turns, turned, found, engine, check)


def _straightened(
    page: Page,
    turns: int,
    pixels: Pixels,
    lines: Sequence[TextLine],
    engine: TextEngine,
    check: CancelCheck,
) -> ReadPage:
    """Straighten a page with bent lines and read it again; return the better of both results."""
    courses = [line.course for line in lines if line.course is not None]
    unrolling = find_unrolling(pixels, courses)
    flat = turns, pixels, lines, None
    if unrolling is None:
        return _spaced(page, flat, check)
    check()
    straight = straightened(pixels, unrolling)
    check()
    again = engine.read(straight, check)
    # It is unknown whether bent lines are upside down, so this is checked after straightening.
    if _is_upside_down(straight, _with_text(again), engine, check):
        turns = (turns + 2) % 4
        unrolling = unrolling.turned_over(pixels.shape[1], pixels.shape[0])
        straight = turned_pixels(straight, 2)
        again = engine.read(straight, check)
    is_better = _text_score(again) > _text_score(lines)
    return _spaced(page, (turns, straight, again, unrolling) if is_better else flat, check)


def _spaced(page: Page, read: _Reading, check: CancelCheck) -> ReadPage:
    """Add spaces that the engine missed, and find text that it left out."""
    turns, pixels, found, unrolling = read
    spaced = spaced_lines(pixels, _with_text(found), check)
    unread = tuple(line.box for line in (*_without_text(found), *_without_text(spaced)))
    lines = tuple(_with_text(spaced))
    return ReadPage(page, turns, pixels, lines, unread=unread, unrolling=unrolling)


def _text_score(lines: Sequence[TextLine]) -> float:
    """Return the number of recognised characters, each weighted by its probability."""
    return sum(line.probability * len(line.text) for line in lines)


def _is_upside_down(
    pixels: Pixels, lines: Sequence[TextLine], engine: TextEngine, check: CancelCheck
) -> bool:
    """Return whether the longest lines are recognised better upside down."""
    if _mean_probability(lines) >= _CERTAIN:
        return False
    longest = sorted(lines, key=lambda line: line.box.width, reverse=True)[:_LOOKED_AT]
    quads = [line.corners for line in longest]
    upright = engine.read_crops(pixels, quads, check)
    reverse = engine.read_crops(pixels, [reversed_quad(quad) for quad in quads], check)
    return _mean_probability(reverse) > _mean_probability(upright) + _CLEARLY


def _mean_probability(lines: Sequence[TextLine | None]) -> float:
    """Return the mean probability of all characters: 1 for no lines, 0 if all lines are empty."""
    read = [line for line in lines if line is not None]
    weight = sum(len(line.text) for line in read)
    if not weight:
        return 0.0 if lines else 1.0
    return sum(line.probability * len(line.text) for line in read) / weight
