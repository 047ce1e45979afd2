"""Finds values in the ruled cells next to their keys: tables with caption cells and value cells.

On most forms, a box with only a caption is empty, and the box next to it is another field. A
caption's value is therefore expected in the next cell only under three conditions. Several
captions are in one row or column. Each of their cells has only the caption. The cells below, or to
the right, contain texts but no captions. At least half of the texts must have digits, unless the
cells below are taller than the cells of the captions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import looks_like_label
from chalicelib.engines.ocr.forms.fragments import UnmatchedText, is_numbered_caption
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import is_level
from chalicelib.engines.ocr.grouping import grouped

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles


@dataclass(frozen=True, slots=True)
class _Pair:
    """A cell with only a caption, and the next cell, where its value is."""

    key: int | None
    """Index of the key; None for another caption of the row."""
    rect: Rect
    """Rectangle of the caption."""
    box: Rect
    """Cell of the caption."""
    value: int
    """Index of the first fragment in the next cell."""
    cell: Rect
    """Cell of the value, next to the caption's cell."""


def values_in_next_cells(
    keys: Sequence[FoundKey], unmatched: UnmatchedText, rulings: PageRules
) -> dict[int, int]:
    """Return the indexes of the first texts of values, by index of a key alone in a ruled cell."""
    page = _Cells(keys, unmatched, rulings)
    found = {pair.key: pair.value for pair in page.adjacent()}
    found |= {pair.key: pair.value for pair in page.below()}
    return {key: value for key, value in found.items() if key is not None}


class _Cells:
    def __init__(
        self, keys: Sequence[FoundKey], unmatched: UnmatchedText, rulings: PageRules
    ) -> None:
        self._fragments = unmatched.fragments
        self._rulings = rulings
        self._middles = _middles([fragment.segment.rect for fragment in unmatched.fragments])
        labels = [segment.rect for key in keys for segment in key.segments]
        labels += [segment.rect for segment in unmatched.labels]
        self._texts = np.concatenate((self._middles, _middles(labels)))
        is_free = [each.owner is None and not each.is_labelled for each in self._fragments]
        self._is_free = np.array(is_free, dtype=np.bool_)
        boxes = [rulings.box(key.rect) for key in keys]
        closed = [
            _Pair(number, key.rect, box, -1, box)
            for number, (key, box) in enumerate(zip(keys, boxes, strict=True))
            if isfinite(box.area) and not key.has_colon
        ]
        sizes = [len(key.segments) for key in keys]
        self._alone = [
            each for each in closed if _inside(self._texts, each.box).sum() <= sizes[each.key or 0]
        ]
        # Boxes that contain both a caption and a value.
        free = self._middles[self._is_free]
        self._shared = [each.box for each in closed if bool(_inside(free, each.box).any())]

    def _others(self) -> Iterator[_Pair]:
        """Yield cells whose only text has no digit and is not a key, in rows that contain keys."""
        rows = np.array([(each.box.min_y, each.box.max_y) for each in self._alone])
        for fragment, is_free in zip(self._fragments, self._is_free, strict=True):
            rect, text = fragment.segment.rect, fragment.segment.text
            near = (rows[:, 0] < rect.center[1]) & (rows[:, 1] > rect.center[1])
            if is_free and near.any() and not any(map(str.isdecimal, text)):
                box = self._rulings.box(rect)
                if isfinite(box.area) and _inside(self._texts, box).sum() == 1:
                    yield _Pair(None, rect, box, -1, box)

    def below(self) -> Iterator[_Pair]:
        """Yield each column header with the value cell below."""
        pairs: list[_Pair] = []
        for each in (*self._alone, *self._others()) if self._alone else ():
            pairs += self._pairs(each, replace(each.box, min_y=each.box.max_y, max_y=inf), 1)
        pairs.sort(key=lambda each: each.rect.center[1])
        for row in grouped(
            pairs, lambda row, pair: is_level(row[-1].rect, pair.rect), only_last=True
        ):
            # In a grid of equal boxes without any value, the text below is another caption.
            is_table = len(pairs) >= settings.FEWEST_AMOUNTS and all(map(_is_taller, row))
            if self._are_values(row, is_table and not self._shared):
                yield from row

    def adjacent(self) -> Iterator[_Pair]:
        """Yield each caption with the value cell to its right."""
        pairs: list[_Pair] = []
        for each in self._alone:
            pairs += self._pairs(each, replace(each.box, min_x=each.box.max_x, max_x=inf), 0)
        # A column has either captions or values.
        starts = np.array([each.box.min_x for each in self._alone])
        pairs = [
            pair
            for pair in pairs
            if not (np.abs(starts - pair.cell.min_x) < pair.rect.height).any()
        ]
        if len(pairs) < max(settings.FEWEST_AMOUNTS, len(self._shared) + 1):
            pairs = [pair for pair in pairs if self._is_in_column(pair, pairs)]
        if pairs and self._are_numbers(pairs):
            yield from (pair for pair in pairs if not self._is_caption(pair))

    def _is_in_column(self, pair: _Pair, pairs: Sequence[_Pair]) -> bool:
        """Return whether a column has enough cells with only a caption, none with a value too."""
        slack = settings.IN_RULE_HEIGHTS * pair.rect.height

        def is_below(box: Rect) -> bool:
            return max(abs(box.min_x - pair.box.min_x), abs(box.max_x - pair.box.max_x)) <= slack

        count = sum(is_below(each.box) for each in pairs)
        return count >= settings.FEWEST_AMOUNTS and not any(map(is_below, self._shared))

    def _pairs(self, caption: _Pair, strip: Rect, axis: int) -> Iterator[_Pair]:
        """Yield a caption's cell and the next cell in `strip`, unless that cell has a caption."""
        ahead = np.flatnonzero(self._is_free & _inside(self._middles, strip))
        if not len(ahead):
            return
        first = int(ahead[self._middles[ahead, axis].argmin()])
        box, rect = caption.box, self._fragments[first].segment.rect
        cell = self._rulings.box(rect)
        if axis and box.min_x < rect.min_x and rect.max_x < box.max_x:
            # A row of values may have no rules between its columns.
            left, right = max(box.min_x, cell.min_x), min(box.max_x, cell.max_x)
            cell = replace(cell, min_x=left, max_x=right)
        if not _is_next(box, cell, caption.rect.height, axis):
            return
        inside = _inside(self._middles, cell)
        count = int(inside.sum())
        is_free = bool(self._is_free[inside].all()) and count == _inside(self._texts, cell).sum()
        height = self._fragments[first].segment.height
        is_line = bool(np.ptp(self._middles[inside, 1]) < settings.SAME_LINE_SHARE * height)
        if is_free and (is_line or axis == 0 or _is_taller(replace(caption, cell=cell))):
            top = np.flatnonzero(inside)
            upper = top[self._middles[top, 1] < self._middles[top, 1].min() + height / 2]
            yield replace(caption, cell=cell, value=int(upper[self._middles[upper, 0].argmin()]))

    def _are_values(self, row: Sequence[_Pair], is_table: bool) -> bool:
        """Return whether the texts below a row of captions are values, not further captions."""
        texts = [self._fragments[pair.value].segment.text for pair in row]
        are_likely = len(row) >= settings.FEWEST_AMOUNTS and self._are_numbers(row)
        return (is_table or are_likely) and not any(map(is_numbered_caption, texts))

    def _are_numbers(self, pairs: Sequence[_Pair]) -> bool:
        texts = [self._fragments[pair.value].segment.text for pair in pairs]
        return 2 * sum(any(map(str.isdecimal, text)) for text in texts) >= len(texts)

    def _is_caption(self, pair: _Pair) -> bool:
        text = self._fragments[pair.value].segment.text
        return looks_like_label(text) or is_numbered_caption(text)


def _is_taller(pair: _Pair) -> bool:
    return pair.cell.height > pair.box.height + pair.rect.height / 2


def _is_next(box: Rect, cell: Rect, height: float, axis: int) -> bool:
    """Return whether `cell` is directly below `box` and has the same width.

    If `axis` is 0, return whether it is directly to the right and has the same height.
    """
    slack = settings.IN_RULE_HEIGHTS * height
    sides = (
        ((box.min_x, cell.min_x), (box.max_x, cell.max_x), (box.max_y, cell.min_y))
        if axis
        else ((box.min_y, cell.min_y), (box.max_y, cell.max_y), (box.max_x, cell.min_x))
    )
    return isfinite(cell.area) and all(abs(one - other) <= slack for one, other in sides)


def _middles(rects: Sequence[Rect]) -> Doubles:
    return np.array([rect.center for rect in rects], dtype=np.float64).reshape(len(rects), 2)


def _inside(middles: Doubles, box: Rect) -> Bools:
    x, y = middles.T
    return np.asarray((x > box.min_x) & (x < box.max_x) & (y > box.min_y) & (y < box.max_y))
