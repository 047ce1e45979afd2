"""Parts of text lines, with their positions on the page and on the deskewed page."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from chalicelib.domain.documents.page import Point, Quad, Rect, TextLine, around, around_points
from chalicelib.engines.ocr.contacts import settings


@dataclass(frozen=True, slots=True, eq=False)
class CardPiece:
    """A run of characters of one text line."""

    text: str
    """Text of the piece, with at least one visible character."""
    probability: float
    """Probability that the line was read correctly, as estimated by the text engine."""
    corners: Quad
    """Corners in pixels of the page; the first is the top left of the text."""
    place: Rect
    """Box on the deskewed page, in pixels."""
    height: float
    """Height of the letters, in pixels; at least 1."""
    order: tuple[int, int]
    """Number of the line, and index of the piece's first character in the line."""
    places: tuple[float, ...] = ()
    """Middle of each character as a fraction of the piece's length; see TextLine."""

    @property
    def box(self) -> Rect:
        """Upright rectangle around the piece, in pixels of the page."""
        return around_points(self.corners)

    def part(self, start: int, end: int) -> CardPiece | None:
        """Return the characters from start to end, without outer spaces; None if empty."""
        cut = self.text[start:end]
        start += len(cut) - len(cut.lstrip())
        text = cut.strip()
        end = start + len(text)
        if not text:
            return None
        if (start, end) == (0, len(self.text)):
            return self
        left, right = self._ends(start, end)
        corners = _between(self.corners, left, right)
        width = self.place.width
        place = Rect(
            self.place.min_x + left * width,
            self.place.min_y,
            self.place.min_x + right * width,
            self.place.max_y,
        )
        places = tuple((one - left) / max(right - left, 1e-9) for one in self.places[start:end])
        line, first = self.order
        order = (line, first + start)
        return CardPiece(text, self.probability, corners, place, self.height, order, places)

    def _ends(self, start: int, end: int) -> tuple[float, float]:
        """Return where a range of characters begins and ends, as fractions of the piece."""
        own = self.places[start:end]
        if not own or list(self.places) == sorted(self.places):
            return self._edge(start), self._edge(end)
        # Hebrew or Arabic text: its first character is at the right.
        half = 1 / (2 * len(self.text))
        return max(0.0, min(own) - half), min(1.0, max(own) + half)

    def _edge(self, place: int) -> float:
        """Return where a character begins, as a fraction of the piece's length."""
        if place <= 0 or place >= len(self.text):
            return float(place > 0)
        if len(self.places) == len(self.text):
            return min(1.0, max(0.0, (self.places[place - 1] + self.places[place]) / 2))
        return place / len(self.text)


def pieces_of(lines: Sequence[TextLine]) -> list[CardPiece]:
    """Split the lines of a page into pieces, at gaps that are as wide as those between columns."""
    angle = page_angle(lines)
    return [
        part
        for number, line in enumerate(lines)
        if line.text.strip()
        for part in _columns(_whole(line, number, angle))
    ]


def page_angle(lines: Iterable[TextLine]) -> float:
    """Return the slope of the lines, in radians, positive if they fall to the right."""
    angles = sorted(
        (math.atan2(right[1] - left[1], right[0] - left[0]), math.dist(left, right))
        for left, right, _, _ in (line.corners for line in lines)
    )
    level = [(angle, width) for angle, width in angles if abs(angle) <= settings.STEEPEST_RADIANS]
    total = sum(width for _, width in level)
    if not total:
        return 0.0
    sums: list[float] = []
    for _, width in level:
        sums.append(width + (sums[-1] if sums else 0.0))
    return level[min(bisect_left(sums, total / 2), len(level) - 1)][0]


def join_text(pieces: Iterable[CardPiece]) -> str:
    """Join the texts of pieces with spaces."""
    return " ".join(piece.text for piece in pieces)


def joined(pieces: Sequence[CardPiece]) -> CardPiece:
    """Join one or more pieces to a single piece, in the given order."""
    if len(pieces) == 1:
        return pieces[0]
    weights = [len(piece.text) for piece in pieces]
    probability = sum(
        piece.probability * weight for piece, weight in zip(pieces, weights, strict=True)
    ) / sum(weights)
    box = around(piece.box for piece in pieces)
    corners = (
        (box.min_x, box.min_y),
        (box.max_x, box.min_y),
        (box.max_x, box.max_y),
        (box.min_x, box.max_y),
    )
    place = around(piece.place for piece in pieces)
    height = max(piece.height for piece in pieces)
    return CardPiece(join_text(pieces), probability, corners, place, height, pieces[0].order)


def _whole(line: TextLine, number: int, angle: float) -> CardPiece:
    place = around_points(_turned(point, angle) for point in line.corners)
    known = len(line.places) == len(line.text)
    return CardPiece(
        line.text,
        line.probability,
        line.corners,
        place,
        max(1.0, math.dist(line.corners[0], line.corners[3])),
        (number, 0),
        line.places if known else (),
    )


def _columns(piece: CardPiece) -> list[CardPiece]:
    """Split a piece at gaps that are as wide as those between columns."""
    text, places = piece.text, piece.places
    if not places or " " not in text:
        return [piece]
    width = math.dist(piece.corners[0], piece.corners[1])
    steps = [abs(after - before) for before, after in pairwise(places)]
    pitch = median(steps) * width
    widest = 2 * pitch + settings.COLUMN_GAP_HEIGHTS * piece.height
    cuts = [
        place
        for place in range(1, len(text) - 1)
        if text[place] == " " and abs(places[place + 1] - places[place - 1]) * width > widest
    ]
    edges = [0, *cuts, len(text)]
    parts = [piece.part(a, b) for a, b in pairwise(edges)]
    return [part for part in parts if part is not None]


def _turned(point: Point, angle: float) -> Point:
    """Rotate a point about the origin, so that lines at an angle become horizontal."""
    x, y = point
    cos, sin = math.cos(angle), math.sin(angle)
    return x * cos + y * sin, y * cos - x * sin


def _between(corners: Quad, left: float, right: float) -> Quad:
    top_left, top_right, bottom_right, bottom_left = corners
    return (
        _along(top_left, top_right, left),
        _along(top_left, top_right, right),
        _along(bottom_left, bottom_right, right),
        _along(bottom_left, bottom_right, left),
    )


def _along(start: Point, end: Point, share: float) -> Point:
    """Return the point at a fraction of the way from one point to another."""
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
