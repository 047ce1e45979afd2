"""Finds values in the boxes below their keys: a ruled row of headers over a row of values.

On most forms, a box with only a caption is empty, and the box below is another field. Captions are
headers if several are in one row, each box has only the caption, and each box below has one text.
Most of these texts must not be plain words or numbered captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms import measures
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.pieces import Remains, is_numbered_caption
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import is_level

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles


def values_below_headers(
    keys: Sequence[FoundKey], remains: Remains, rulings: PageRules
) -> dict[int, int]:
    """Return the values of keys that are headers of ruled columns.

    Args:
        keys: keys that were found.
        remains: the page without the keys.
        rulings: ruled lines of the page.

    Returns:
        The index of a piece by the index of its key.
    """
    pieces = [piece.segment.rect for piece in remains.pieces]
    labels = [segment.rect for key in keys for segment in key.segments]
    labels += [segment.rect for segment in remains.labels]
    middles = _middles(pieces)
    texts = np.concatenate((middles, _middles(labels)))
    is_free = np.array(
        [each.owner is None and not each.is_labelled for each in remains.pieces], dtype=np.bool_
    )
    found: dict[int, int] = {}
    for number, key in enumerate(keys):
        box = rulings.box(key.rect)
        if key.has_colon or not isfinite(box.area) or _inside(texts, box).sum() > len(key.segments):
            continue
        column = Rect(box.min_x, box.max_y, box.max_x, inf)
        below = np.flatnonzero(is_free & _inside(middles, column))
        if len(below):
            value = int(below[middles[below, 1].argmin()])
            cell = rulings.box(pieces[value])
            if _is_next(box, cell, key.height) and _inside(texts, cell).sum() == 1:
                found[number] = value
    return {
        number: value
        for row in _rows(keys, found)
        if _are_headers(row, remains)
        for number, value in row
    }


def _rows(keys: Sequence[FoundKey], found: dict[int, int]) -> list[list[tuple[int, int]]]:
    """Return keys and their values, row by row."""
    rows: list[list[tuple[int, int]]] = []
    for number, value in sorted(found.items(), key=lambda each: keys[each[0]].rect.center[1]):
        if rows and is_level(keys[rows[-1][-1][0]].rect, keys[number].rect):
            rows[-1].append((number, value))
        else:
            rows.append([(number, value)])
    return rows


def _are_headers(row: Sequence[tuple[int, int]], remains: Remains) -> bool:
    """Return whether the texts below a row of captions are values: enough, and not only words."""
    texts = [remains.pieces[value].segment.text for _, value in row]
    with_digits = sum(any(map(str.isdecimal, text)) for text in texts)
    are_values = 2 * with_digits >= len(texts) and not any(map(is_numbered_caption, texts))
    return len(texts) >= measures.FEWEST_HEADERS and are_values


def _is_next(box: Rect, cell: Rect, height: float) -> bool:
    """Return whether a box is directly below another one with the same sides."""
    slack = measures.IN_RULE_HEIGHTS * height
    sides = ((box.min_x, cell.min_x), (box.max_x, cell.max_x), (box.max_y, cell.min_y))
    return isfinite(cell.area) and all(abs(one - other) <= slack for one, other in sides)


def _middles(rects: Sequence[Rect]) -> Doubles:
    """Return the middles of rectangles, float64, shape (rectangles, 2)."""
    return np.array([rect.center for rect in rects], dtype=np.float64).reshape(len(rects), 2)


def _inside(middles: Doubles, box: Rect) -> Bools:
    """Return which centres are inside a box."""
    x, y = middles.T
    return np.asarray((x > box.min_x) & (x < box.max_x) & (y > box.min_y) & (y < box.max_y))
