"""Divides very long lines where they are blank, and joins what was read in the parts.

The recogniser's memory grows with the width of a crop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.ocr.ppocr.crops import HEIGHT
from chalicelib.engines.ocr.ppocr.ctc import NOTHING, Reading

if TYPE_CHECKING:
    from PIL import Image

LONGEST = 2_400
"""Widest crop that is read in one piece, in pixels."""
_SEARCHED = 1_200
"""How far before the limit a blank place is looked for, in pixels."""
_WORD_GAP = 0.2 * HEIGHT
"""Blank columns that make a space, in pixels."""
_INK = 0.25
"""Contrast above which a pixel is ink, as a share of the crop's."""

Cuts = list[tuple[int, int, bool]]
"""First column, column behind the last, and whether a space comes before the part."""


def cut_places(crop: Image.Image) -> Cuts:
    """Say where a crop, RGB, is divided so that no part is wider than LONGEST."""
    if crop.width <= LONGEST:
        return [(0, crop.width, False)]
    blank = _blank_columns(crop)
    cuts: Cuts = []
    start, is_spaced = 0, False
    while crop.width - start > LONGEST:
        first, last = _widest_gap(blank, start + LONGEST - _SEARCHED, start + LONGEST)
        middle = (first + last) // 2
        cuts.append((start, middle, is_spaced))
        start, is_spaced = middle, last - first >= _WORD_GAP
    return [*cuts, (start, crop.width, is_spaced)]


def joined(cuts: Cuts, readings: Sequence[Reading], width: int) -> Reading:
    """Return what was read in the parts of one crop, width pixels wide, as one line."""
    text, places, weighted = "", list[float](), 0.0
    for (start, end, is_spaced), reading in zip(cuts, readings, strict=True):
        if not reading.text:
            continue
        if text and is_spaced:
            text += " "
            places.append(start / width)
        text += reading.text
        weighted += reading.probability * len(reading.text)
        places += [(start + place * (end - start)) / width for place in reading.places]
    if not text:
        return NOTHING
    return Reading(text, weighted / sum(len(r.text) for r in readings), tuple(places))


def _blank_columns(crop: Image.Image) -> list[bool]:
    """Say of each column whether it is background from top to bottom."""
    grey = np.asarray(crop.convert("L"), np.float32)
    background = np.median(grey)
    contrast = np.abs(grey - background).max(axis=0)
    blank: list[bool] = (contrast <= _INK * max(float(contrast.max()), 1.0)).tolist()
    return blank


def _widest_gap(blank: list[bool], first: int, last: int) -> tuple[int, int]:
    """Return the widest run of blank columns between two columns; an empty one at the end."""
    best = (last, last)
    start = first
    for column in range(first, last):
        if not blank[column]:
            start = column + 1
        elif column + 1 - start >= best[1] - best[0]:
            best = (start, column + 1)
    return best
