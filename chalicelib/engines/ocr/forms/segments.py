"""Divides the lines of a page into segments: parts that do not run across columns.

Rectangles of segments are on the deskewed page: the page rotated about its top left corner until
its lines are horizontal. Boxes are on the page as read.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Self

from chalicelib.domain.documents.page import Rect, TextLine, around_points, between
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.skew import find_angle

_WORD = re.compile(r"\S+")
# An amount with cents. Another one that touches it begins with a currency sign or has two digits or
# more: 2.759.19 is a single amount with a misread comma.
_AMOUNT = re.compile(r"[$€£]?\d{1,3}(?:,?\d{3})*\.\d\d(?=[$€£]|\d\d|$)")


@dataclass(frozen=True, slots=True)
class LineSegment:
    """A line of text, or a part of it."""

    line: TextLine
    """Line to which the segment belongs."""
    start: int
    """Index of the first character in the line's text."""
    end: int
    """Index after the last character."""
    rect: Rect
    """Rectangle on the deskewed page."""

    @property
    def text(self) -> str:
        """Text of the segment."""
        return self.line.text[self.start : self.end]

    @property
    def height(self) -> float:
        """Height of the segment's rectangle, at least a pixel."""
        return max(1.0, self.rect.height)

    def part(self, start: int, end: int) -> Self:
        """Return the segment's characters from `start` up to `end`, without outer white space."""
        start = end - len(self.text[start:end].lstrip())
        end = start + len(self.text[start:end].rstrip())
        first, last = self.start + start, self.start + end
        whole = edge(self.line, self.end) - edge(self.line, self.start) or 1.0
        left = (edge(self.line, first) - edge(self.line, self.start)) / whole
        right = (edge(self.line, last) - edge(self.line, self.start)) / whole
        if whole < 0:
            left, right = 1.0 - right, 1.0 - left
        begin, width = self.rect.min_x, self.rect.width
        rect = replace(self.rect, min_x=begin + left * width, max_x=begin + right * width)
        return replace(self, start=first, end=last, rect=rect)

    @property
    def box(self) -> Rect:
        """Axis-aligned rectangle around the segment, in the coordinates of the page's lines."""
        if (self.start, self.end) == (0, len(self.line.text)):
            return self.line.box
        left, right = edge(self.line, self.start), edge(self.line, self.end)
        top_left, top_right, bottom_right, bottom_left = self.line.corners
        return around_points(
            between(first, last, place)
            for first, last in ((top_left, top_right), (bottom_left, bottom_right))
            for place in (left, right)
        )


def edge(line: TextLine, index: int) -> float:
    """Return where a character begins: 0 at the left end of its line, 1 at the right end."""
    count, places = len(line.text), line.places
    if len(places) == count and places and places[0] > places[-1]:
        # Text from right to left: its characters begin at their right ends.
        return 1.0 - edge(replace(line, places=tuple(1.0 - place for place in places)), index)
    if index <= 0 or index >= count:
        return 0.0 if index <= 0 else 1.0
    if len(places) != count:
        return index / count
    step = (places[index] - places[index - 1]) / 2
    if line.text[index - 1] == " " and index + 1 < count:
        return places[index] - min(step, (places[index + 1] - places[index]) / 2)
    if line.text[index] == " " and index > 1:
        return places[index - 1] + min(step, (places[index - 1] - places[index - 2]) / 2)
    return places[index] - step


def make_segments(lines: Sequence[TextLine], angle: float) -> tuple[LineSegment, ...]:
    """Deskew the lines of a page by its angle, and split lines that run across columns."""
    segments = [LineSegment(line, 0, len(line.text), deskewed(line, angle)) for line in lines]
    by_bottom = sorted((each for each in segments if _is_header(each)), key=_bottom)
    bottoms = [_bottom(each) for each in by_bottom]
    divided: list[LineSegment] = []
    for segment in segments:
        reach = settings.PRINTED_LINE_GAP_HEIGHTS * segment.height
        first = bisect_left(bottoms, segment.rect.min_y - reach)
        last = bisect_right(bottoms, segment.rect.min_y + reach / 2)
        divided += _amounts(segment) or _divide_below(segment, by_bottom[first:last])
    return tuple(divided)


def tilt(lines: Sequence[TextLine]) -> float:
    """Return the clockwise angle of the lines in radians: their median, weighted by length."""
    angle = find_angle(lines)
    return angle if abs(angle) > settings.LEAST_TILT_RADIANS else 0.0


def text_height(segments: Sequence[LineSegment]) -> float:
    """Return the median height of the segments in pixels; 1 if there are no segments."""
    return median(segment.height for segment in segments) if segments else 1.0


def is_level(first: Rect, second: Rect) -> bool:
    """Return whether two rectangles are on the same line of text."""
    shared = min(first.max_y, second.max_y) - max(first.min_y, second.min_y)
    return shared >= settings.SAME_LINE_SHARE * min(first.height, second.height)


def deskewed(line: TextLine, angle: float) -> Rect:
    """Return the position of a line on the deskewed page."""
    if not angle:
        return line.box
    cosine, sine = math.cos(angle), math.sin(angle)
    return around_points((x * cosine + y * sine, y * cosine - x * sine) for x, y in line.corners)


def _bottom(segment: LineSegment) -> float:
    return segment.rect.max_y


def _is_header(segment: LineSegment) -> bool:
    text = segment.text
    return len(text.split()) <= settings.COLUMN_CAPTION_WORDS and not any(map(str.isdecimal, text))


def _amounts(segment: LineSegment) -> list[LineSegment]:
    """Split a text that consists only of amounts; return an empty list for any other text."""
    spans, end = [], 0
    while match := _AMOUNT.match(segment.text, end):
        spans.append(match.span())
        end = match.end()
    is_whole = end == len(segment.text) and len(spans) > 1
    return [segment.part(*span) for span in spans] if is_whole else []


def _divide_below(segment: LineSegment, headers: Sequence[LineSegment]) -> list[LineSegment]:
    """Split a line into parts, each below one of the captions directly above the line."""
    rect = segment.rect
    above = sorted(
        (each for each in headers if rect.min_x < each.rect.center[0] < rect.max_x),
        key=lambda each: each.rect.min_x,
    )
    words = [match.span() for match in _WORD.finditer(segment.text)]
    if not 1 < len(above) <= len(words):
        return [segment]
    parts: list[tuple[int, int]] = []
    for header in above:
        under = [
            (start, end)
            for start, end in words
            if _overlaps(segment.part(start, end).rect, header.rect)
        ]
        if not under or (parts and under[0][0] < parts[-1][1]):
            return [segment]
        parts.append((under[0][0], under[-1][1]))
    is_whole = sum(end - start for start, end in parts) + len(parts) - 1 == len(segment.text)
    return [segment.part(start, end) for start, end in parts] if is_whole else [segment]


def _overlaps(rect: Rect, header: Rect) -> bool:
    return min(rect.max_x, header.max_x) > max(rect.min_x, header.min_x)
