"""Ruled lines of a page, and the boxes that they form around texts.

Positions are those of the deskewed page: the page rotated about its top left corner until its lines
are horizontal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import ReadPage, Rect
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment, text_height
from chalicelib.engines.ocr.grouping import grouped
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings, darkest_channel, find_rulings

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Bools, Doubles, Pixels

    Indices = npt.NDArray[np.intp]


_PAPER = 255
_WORD = re.compile(r"\S+")


class PageRules:
    """The ruled lines of a deskewed page."""

    def __init__(self, rulings: Rulings | None) -> None:
        """Store the ruled lines of the deskewed page; None if they are unknown."""
        self.is_known = rulings is not None
        self._rows = _as_array(rulings.horizontal if rulings else ())
        self._columns = _as_array(rulings.vertical if rulings else ())

    @classmethod
    def of_page(cls, page: ReadPage, angle: float, text: Sequence[LineSegment]) -> PageRules:
        """Find the ruled lines of a page in its PDF drawings, otherwise in its pixels."""
        if page.rules is not None and not angle:
            return cls(drawn_rulings(page.rules))
        return cls.of_pixels(page.pixels, angle, [each.rect for each in text], text_height(text))

    @classmethod
    def of_pixels(
        cls, pixels: Pixels | None, angle: float, text: Sequence[Rect], text_height: float
    ) -> PageRules:
        """Find the ruled lines of a page in its pixels.

        Args:
            pixels: RGB, uint8, shape (height, width, 3); None for a page without pixels.
            angle: clockwise rotation of the page, in radians.
            text: boxes of text on the deskewed page.
            text_height: usual height of the text in pixels.
        """
        if pixels is None:
            return cls(None)
        gray = _levelled(darkest_channel(pixels), angle)
        return cls(find_rulings(gray, text, text_height))

    def without(self, boxes: Iterable[Rect]) -> PageRules:
        """Return the ruled lines that are not sides of these boxes, such as tick boxes."""
        if not self.is_known:
            return self
        other = PageRules(None)
        other.is_known = True
        other._rows, other._columns = self._rows, self._columns
        for box in boxes:
            left, top, right, bottom = box.min_x, box.min_y, box.max_x, box.max_y
            other._rows = _outside(other._rows, (top, bottom), (left, right))
            other._columns = _outside(other._columns, (left, right), (top, bottom))
        return other

    def between_lines(self, upper: Rect, lower: Rect) -> bool | None:
        """Return whether a horizontal ruled line separates two texts; None if lines are unknown.

        Underlines, which are not longer than the text, do not count.
        """
        if not self.is_known:
            return None
        slack = settings.IN_RULE_HEIGHTS * min(upper.height, lower.height)
        left, right = max(upper.min_x, lower.min_x), min(upper.max_x, lower.max_x)
        if right <= left:
            left, right = right, left
        beyond = settings.RULE_BEYOND_HEIGHTS * lower.height
        begin, end = min(upper.min_x, lower.min_x), max(upper.max_x, lower.max_x)
        place, start, stop = self._rows
        covered = np.minimum(stop, right) - np.maximum(start, left)
        found = (
            (place > upper.max_y - slack)
            & (place < lower.min_y + slack)
            & (covered >= settings.FULL_LINE_SHARE * (right - left))
            & ((start < begin - beyond) | (stop > end + beyond))
        )
        return bool(found.any())

    def between_columns(self, left: Rect, right: Rect) -> bool | None:
        """Return whether a vertical ruled line separates two texts; None if lines are unknown."""
        if not self.is_known:
            return None
        slack = settings.IN_RULE_HEIGHTS * min(left.height, right.height)
        middle = (max(left.min_y, right.min_y) + min(left.max_y, right.max_y)) / 2
        place, start, stop = self._columns
        found = (
            (place > left.max_x - slack)
            & (place < right.min_x + slack)
            & (start <= middle)
            & (stop >= middle)
        )
        return bool(found.any())

    def box(self, rect: Rect) -> Rect:
        """Return the box of ruled lines around a rectangle; infinite on sides without a line."""
        slack = settings.IN_RULE_HEIGHTS * rect.height
        x, y = rect.center
        rows = _crossing(self._rows, x)
        columns = _crossing(self._columns, y)
        return Rect(
            columns[columns <= rect.min_x + slack].max(initial=-math.inf),
            rows[rows <= rect.min_y + slack].max(initial=-math.inf),
            columns[columns >= rect.max_x - slack].min(initial=math.inf),
            rows[rows >= rect.max_y - slack].min(initial=math.inf),
        )

    def is_drawn(self, box: Rect) -> bool:
        """Return whether ruled lines cover at least half of both the left and right side of a box.

        Shorter lines belong to other boxes. A side at infinity, which has no line, is ignored.
        """
        position, start, end = self._columns
        for side in (box.min_x, box.max_x):
            covered = np.minimum(end, box.max_y) - np.maximum(start, box.min_y)
            longest = covered[position == side].max(initial=0.0)
            if math.isfinite(side) and 2 * longest < box.height:
                return False
        return True

    def divided(self, segments: Iterable[LineSegment]) -> tuple[LineSegment, ...]:
        """Split segments at the vertical ruled lines that cross them, so that each is in one box.

        A vertical line is ignored everywhere if it crosses a word of any segment: it is then a
        fold or the edge of a shaded area.
        """
        every = [(segment, *self._crossed(segment)) for segment in segments]
        through = {
            column
            for segment, columns, words in every
            if len(columns)
            for column in columns[_hits(self._columns[0][columns], words, segment.height)]
        }
        return tuple(
            part
            for segment, columns, words in every
            for part in _cut_at(
                segment, self._columns[0][[each for each in columns if each not in through]], words
            )
        )

    def _crossed(self, segment: LineSegment) -> tuple[Indices, Doubles]:
        """Return indexes of vertical ruled lines that cross a text, and the x range of each word.

        Ticks between one-character boxes, which are shorter than the text height, do not count.
        """
        rect, reach = segment.rect, settings.RULE_OVER_TEXT_HEIGHTS * segment.height
        place, start, stop = self._columns
        columns = np.flatnonzero(
            (place > rect.min_x)
            & (place < rect.max_x)
            & (start <= rect.min_y - reach)
            & (stop >= rect.max_y + reach)
        )
        words = [segment.part(*match.span()) for match in _WORD.finditer(segment.text)]
        sides = [(word.rect.min_x, word.rect.max_x) for word in words] if len(columns) else []
        return columns, np.array(sides, dtype=np.float64).reshape(len(sides), 2)


def _hits(places: Doubles, words: Doubles, height: float) -> Bools:
    slack = settings.IN_RULE_HEIGHTS * height
    inside = (places[:, None] > words[:, 0] + slack) & (places[:, None] < words[:, 1] - slack)
    return np.asarray(inside.any(axis=1))


def _cut_at(segment: LineSegment, places: Doubles, words: Doubles) -> Iterator[LineSegment]:
    if not len(places):
        yield segment
        return
    middles = words.mean(axis=1)
    parts = [match.span() for match in _WORD.finditer(segment.text)]
    columns = np.searchsorted(np.sort(places), middles)
    for column in np.unique(columns):
        inside = np.flatnonzero(columns == column)
        yield segment.part(parts[inside[0]][0], parts[inside[-1]][1])


def drawn_rulings(rules: Iterable[Rect]) -> Rulings:
    """Return horizontal and vertical rulings from the lines that a PDF draws; join their parts."""
    level, upright = [], []
    for rect in rules:
        x, y = rect.center
        if rect.width >= rect.height:
            level.append(Ruling(y, rect.min_x, rect.max_x, rect.height))
        else:
            upright.append(Ruling(x, rect.min_y, rect.max_y, rect.width))
    return Rulings(tuple(_joined(level)), tuple(_joined(upright)))


def _joined(pieces: Iterable[Ruling]) -> Iterator[Ruling]:
    joint = settings.RULE_JOINT_PIXELS
    for line in grouped(
        sorted(pieces, key=lambda each: (round(each.position), each.start)),
        lambda line, piece: (
            abs(piece.position - line[0].position) < joint
            and piece.start < max(each.end for each in line) + joint
        ),
        only_last=True,
    ):
        yield replace(line[0], end=max(each.end for each in line))


def _as_array(rulings: Iterable[Ruling]) -> Doubles:
    """Return rulings as float64, shape (3, lines): position, start and end."""
    rows = [(each.position, each.start, each.end) for each in rulings]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 3).T


def _outside(lines: Doubles, across: tuple[float, float], along: tuple[float, float]) -> Doubles:
    """Return the lines that are not in an area, apart from a joint."""
    position, start, end = lines
    slack = settings.RULE_JOINT_PIXELS
    is_inside = (position > across[0] - slack) & (position < across[1] + slack)
    is_inside &= (start > along[0] - slack) & (end < along[1] + slack)
    return lines[:, ~is_inside]


def _crossing(lines: Doubles, place: float) -> Doubles:
    position, start, end = lines
    return np.asarray(position[(start <= place) & (end >= place)])


def _levelled(gray: Pixels, angle: float) -> Pixels:
    if not angle:
        return gray
    from PIL import Image

    cosine, sine = math.cos(angle), math.sin(angle)
    turned = Image.fromarray(gray).transform(
        gray.shape[::-1],
        Image.Transform.AFFINE,
        (cosine, -sine, 0, sine, cosine, 0),
        Image.Resampling.BILINEAR,
        fillcolor=_PAPER,
    )
    return np.asarray(turned)
