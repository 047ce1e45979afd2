"""Reads numbers with one digit per box. Line detectors miss some of these digits.

The digits that were detected show how far apart the boxes are. If more boxes of the row contain
ink, the images of all its digits are moved together and read again as one number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import ReadPage, Rect, TextLine, around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import tilt
from chalicelib.engines.ocr.grouping import grouped
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Pixels

_PAPER = 255


def with_single_boxes(page: ReadPage, engine: TextEngine, check: CancelCheck) -> ReadPage:
    """Read numbers in one-character boxes again if digits were missed.

    Each number that is then complete becomes one line. A page with a text layer, or without
    pixels, is not changed.
    """
    if page.is_exact or page.pixels is None:
        return page
    slope = math.tan(tilt(page.lines))
    lines = dict(enumerate(page.lines))
    for row in _rows(page.lines, slope)[: settings.MOST_BOX_ROWS]:
        check()
        others = [line.box for number, line in lines.items() if number not in row.lines]
        own = [lines[number] for number in row.lines]
        whole = _read_whole(row, own, page.pixels, others, engine, check)
        if whole is not None:
            for number in row.lines:
                lines.pop(number, None)
            lines[min(row.lines)] = whole
    return replace(page, lines=tuple(lines[number] for number in sorted(lines)))


@dataclass(frozen=True, slots=True)
class _Row:
    lines: tuple[int, ...]
    """Indexes of the lines that contain the digits."""
    digits: tuple[str, ...]
    """Digits as read, from left to right."""
    places: tuple[int, ...]
    """Position of each digit's box in the row; the first digit's box has position 0."""
    begin: float
    """Horizontal middle of the first box, in pixels."""
    pitch: float
    """Distance from one box to the next, in pixels."""
    middle: float
    """Vertical middle of the digits at the first box."""
    slope: float
    """Slope of the row, positive if it falls to the right."""
    height: float
    """Height of a digit, in pixels."""

    def cell(self, place: int, width: float) -> Rect:
        """Return the middle of the box with index `place`; the result is `width` boxes wide."""
        x = self.begin + place * self.pitch
        y = self.middle + self.slope * (x - self.begin)
        half = width * self.pitch / 2
        return Rect(x - half, y - self.height / 2, x + half, y + self.height / 2)


def _rows(lines: Sequence[TextLine], slope: float) -> list[_Row]:
    """Find the rows of one-character boxes on a page; `slope` is the skew of its text lines."""
    spaced = [number for number, line in enumerate(lines) if _is_spaced(line)]
    if len(spaced) > settings.MOST_ALIKE:
        return []

    def follows(row: Sequence[int], number: int) -> bool:
        last, box = lines[row[-1]].box, lines[number].box
        down = box.center[1] - last.center[1] - slope * (box.center[0] - last.center[0])
        gap = box.min_x - last.max_x
        return abs(down) < last.height / 2 and gap < settings.TALLEST_BOX_HEIGHTS * last.height

    found = grouped(sorted(spaced, key=lambda each: lines[each].box.min_x), follows)
    rows = [row for each in found if (row := _fitted(lines, each, slope))]
    alone = [each[0] for each in found if len(each) == 1 and len(lines[each[0]].text) == 1]
    return rows + [row for number in alone if (row := _below_another(lines, number, rows))]


def _below_another(lines: Sequence[TextLine], number: int, rows: Iterable[_Row]) -> _Row | None:
    """Return a new row for a single digit directly above or below a box of a known row.

    `number` is the index of the digit's line. Return None if the digit is anywhere else.
    """
    box = lines[number].box
    x, y = box.center
    for row in rows:
        off = (x - row.begin) / row.pitch
        down = abs(y - row.middle - row.slope * (x - row.begin))
        if (
            abs(off - round(off)) < settings.BOX_OFF_SHARE
            and down < settings.BOX_ROWS_APART * row.pitch
        ):
            return replace(
                row, lines=(number,), digits=(lines[number].text,), places=(0,), begin=x, middle=y
            )
    return None


def _is_spaced(line: TextLine) -> bool:
    bare = "".join(line.text.split())
    wide = line.box.width >= settings.BOX_PITCHES_HEIGHTS[0] * line.box.height * len(bare)
    return bare.isdecimal() and (len(bare) == 1 or wide)


def _middles(line: TextLine) -> Iterator[tuple[float, str]]:
    count = len(line.text)
    even = tuple((place + 0.5) / count for place in range(count))
    places = line.places if len(line.places) == count else even
    for place, digit in zip(places, line.text, strict=True):
        if digit.isdecimal():
            yield line.box.min_x + place * line.box.width, digit


def _fitted(lines: Sequence[TextLine], row: Sequence[int], slope: float) -> _Row | None:
    """Return the row of digits if their distances are multiples of one width, else None."""
    digits = [each for number in row for each in _middles(lines[number])]
    steps = [after[0] - before[0] for before, after in pairwise(digits)]
    height = median(lines[number].box.height for number in row)
    if len(digits) < settings.FEWEST_BOXED_DIGITS:
        return None
    low, high = (share * height for share in settings.BOX_PITCHES_HEIGHTS)
    middles = [middle for middle, _ in digits]
    grids = (_grid(middles, pitch) for pitch in (min(steps), median(steps)) if low <= pitch <= high)
    grid = next((each for each in grids if each is not None), None)
    if grid is None:
        return None
    places, begin, pitch = grid
    tops = [
        lines[number].box.center[1] - slope * (lines[number].box.center[0] - begin)
        for number in row
    ]
    texts = tuple(digit for _, digit in digits)
    single = [lines[number].box.height for number in row if len(lines[number].text) == 1]
    return _Row(
        tuple(row),
        texts,
        tuple(places),
        begin,
        pitch,
        median(tops),
        slope,
        min(single, default=height),
    )


def _grid(middles: Sequence[float], pitch: float) -> tuple[Sequence[int], float, float] | None:
    """Return the index of each digit's box, the first box's middle, and the distance between boxes.

    None if the digits are not at equal distances.
    """
    places = [0]
    for before, after in pairwise(middles):
        places.append(places[-1] + max(1, round((after - before) / pitch)))
    pitch, begin = np.polyfit(places, middles, 1).tolist()
    off = max(
        abs(middle - begin - pitch * place) for middle, place in zip(middles, places, strict=True)
    )
    return (places, begin, pitch) if off <= settings.BOX_OFF_SHARE * pitch else None


def _read_whole(
    row: _Row,
    lines: Sequence[TextLine],
    pixels: Pixels,
    others: Sequence[Rect],
    engine: TextEngine,
    check: CancelCheck,
) -> TextLine | None:
    """Read a row of one-character boxes as one number, to find digits that were missed.

    If no digit was missed, the lines of the row are joined instead. Return None if they need not be
    joined, or if the number contradicts digits that are already known.
    """
    order = _filled(row, pixels, others)
    if len(order) == len(row.places):
        return _joined(row, lines)
    crops = [_crop(pixels, row.cell(place, settings.BOX_CORE_SHARE)) for place in order]
    if not all(crop.size for crop in crops):
        return None  # a box off the page
    strip = _together(crops)
    height, width = strip.shape[:2]
    quad = ((0.0, 0.0), (float(width), 0.0), (float(width), float(height)), (0.0, float(height)))
    line = engine.read_crops(strip, [quad], check)[0]
    text = "".join(line.text.split()) if line is not None else ""
    kept = _boxes_of(text, order, dict(zip(row.places, row.digits, strict=True)))
    if line is None or not kept:
        return None
    box = around(row.cell(place, 1.0) for place in range(kept[0], kept[-1] + 1))
    middles = [(place - kept[0] + 0.5) * row.pitch / box.width for place in kept]
    ends = [(before + after) / 2 for before, after in pairwise(middles)]
    shares = [each for pair in zip(middles, ends, strict=False) for each in pair]
    return TextLine(" ".join(text), line.probability, box, places=(*shares, middles[-1]))


def _filled(row: _Row, pixels: Pixels, others: Sequence[Rect]) -> list[int]:
    """Return the positions of the boxes that contain a digit or ink.

    Before the first digit and after the last digit, the search ends at the first empty box.
    """
    dark = {place: _ink(pixels, row.cell(place, settings.BOX_CORE_SHARE)) for place in row.places}
    least = settings.LEAST_BOX_INK_SHARE * median(each.sum() for each in dark.values())

    def is_filled(place: int) -> bool:
        cell = row.cell(place, settings.BOX_CORE_SHARE)
        is_taken = any(each.has_center_of(cell) for each in others)
        return not is_taken and _ink(pixels, cell).sum() > least

    places = set(row.places)
    places |= {place for place in range(row.places[-1]) if place not in places and is_filled(place)}
    for way in (-1, 1):
        place = (0 if way < 0 else row.places[-1]) + way
        while abs(place) < settings.MOST_BOXES and is_filled(place):
            places.add(place)
            place += way
    return sorted(places)


def _joined(row: _Row, lines: Sequence[TextLine]) -> TextLine | None:
    """Join lines with a row's digits to one line; None if a box was missed or nothing is joined."""
    is_whole = row.places[-1] - row.places[0] == len(row.places) - 1
    if not is_whole or len(lines) < 2 or len(row.digits) <= len(lines):
        return None
    probability = min(line.probability for line in lines)
    return TextLine(" ".join(row.digits), probability, around(line.box for line in lines))


def _boxes_of(text: str, order: Sequence[int], known: Mapping[int, str]) -> Sequence[int]:
    """Return the position of each digit's box in the row, chosen from the positions `order`.

    Boxes at the ends may be left out, because ticks and stains in empty boxes look like digits.
    `known` has the digits at some positions. If `text` contradicts them, the result is empty.
    """
    if not text.isdecimal():
        return ()
    for first in range(len(order) - len(text) + 1):
        kept = order[first : first + len(text)]
        same = sum(known.get(place) == digit for place, digit in zip(kept, text, strict=True))
        if len(known) - same <= settings.MOST_BOX_DIFFERENCES and len(text) > len(known):
            return kept
    return ()


def _crop(pixels: Pixels, rect: Rect) -> Pixels:
    """Return the grey pixels of a rectangle, clipped to the page."""
    top, left = (max(0, round(each)) for each in (rect.min_y, rect.min_x))
    part = pixels[top : max(top, round(rect.max_y)), left : max(left, round(rect.max_x))]
    gray: Pixels = part.min(axis=2, initial=_PAPER)
    return gray


def _ink(pixels: Pixels, rect: Rect) -> Doubles:
    """Return how much darker than the paper each pixel of a rectangle is, 0 to 1."""
    part = _crop(pixels, rect).astype(np.float64)
    if not part.size:
        return part
    paper = np.median(part)
    dark: Doubles = np.clip(paper - part - settings.BOX_PAPER_NOISE, 0.0, None) / _PAPER
    return dark


def _together(crops: Iterable[Pixels]) -> Pixels:
    """Combine images of single digits into one image of a line, with normal spacing."""
    parts = []
    for crop in crops:
        paper = np.median(crop)
        columns = np.flatnonzero((crop < paper - settings.BOX_PAPER_NOISE).sum(axis=0) > 1)
        first, last = (columns[0], columns[-1] + 1) if len(columns) else (0, crop.shape[1])
        blank = np.full((crop.shape[0], max(1, crop.shape[0] // 8)), paper, dtype=np.uint8)
        parts += [blank, crop[:, first:last]]
    height = min(part.shape[0] for part in parts)
    row = np.concatenate([part[:height] for part in [*parts, parts[0]]], axis=1)
    return np.repeat(row[:, :, None], 3, axis=2)
