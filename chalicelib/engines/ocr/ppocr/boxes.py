"""Finds the boxes of text lines in the detection network's probability map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import BENT, Course, Quad

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Ints, Singles


@dataclass(frozen=True, eq=False)
class Runs:
    """Horizontal runs of True pixels in a mask, sorted by row and column."""

    rows: Ints
    """Row of each run, int64, shape (runs,)."""
    starts: Ints
    """First column of each run."""
    ends: Ints
    """Index after the last column of each run."""
    width: int
    """Number of columns of the mask."""


def groups_of(mask: Bools) -> PixelGroups:
    """Group the runs of a mask that touch each other."""
    runs = find_runs(mask)
    labels = _labels(runs)
    order = np.argsort(labels, kind="stable")
    firsts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return PixelGroups(runs, order, firsts)


def find_runs(mask: Bools) -> Runs:
    """Return the horizontal runs of True in a mask, bool, shape (height, width)."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), bool)
    padded[:, 1:-1] = mask
    changes = np.flatnonzero(padded[:, 1:] != padded[:, :-1])
    rows, columns = np.divmod(changes, width + 1)
    return Runs(rows[::2], columns[::2], columns[1::2], width)


class PixelGroups:
    """Groups of pixels that touch each other, as runs sorted by group."""

    def __init__(self, runs: Runs, order: Ints, starts: Ints) -> None:
        self._rows, self._starts = runs.rows[order], runs.starts[order]
        self._ends = runs.ends[order]
        self._firsts = starts
        self._bounds = np.r_[starts, len(order)]

    def largest(self, least_side: int, count: int) -> list[int]:
        """Return the indexes of the `count` largest groups.

        The width and height of each group are at least `least_side`.
        """
        if not len(self._firsts):
            return []
        widths = np.maximum.reduceat(self._ends, self._firsts)
        widths -= np.minimum.reduceat(self._starts, self._firsts)
        heights = self._rows[self._bounds[1:] - 1] - self._rows[self._firsts] + 1
        pixels = np.add.reduceat(self._ends - self._starts, self._firsts)
        kept = np.flatnonzero((widths >= least_side) & (heights >= least_side))
        largest: list[int] = kept[np.argsort(-pixels[kept], kind="stable")][:count].tolist()
        return largest

    def outline(self, index: int) -> Ints:
        """Return x and y of the first and last pixel in each row of a group, int64, (points, 2)."""
        own = slice(self._bounds[index], self._bounds[index + 1])
        rows = self._rows[own]
        firsts = np.flatnonzero(np.r_[True, np.diff(rows) != 0])
        left = np.minimum.reduceat(self._starts[own], firsts)
        right = np.maximum.reduceat(self._ends[own], firsts) - 1
        lines = rows[firsts]
        return np.concatenate((np.stack((left, lines), 1), np.stack((right, lines), 1)))

    def course(self, index: int) -> Course | None:
        """Return the centre line of a group of pixels; None if the group is too short."""
        own = slice(self._bounds[index], self._bounds[index + 1])
        rows, starts, ends = self._rows[own], self._starts[own], self._ends[own]
        left, width = int(starts.min()), int(ends.max() - starts.min())
        counts, sums = (
            np.cumsum(
                np.bincount(starts - left, weights, width + 1)
                - np.bincount(ends - left, weights, width + 1)
            )[:width]
            for weights in (None, rows)
        )
        thickness = float(np.median(counts))
        steps = int(width / (_COURSE_STEP * thickness))
        if steps < 3:
            return None
        cuts = np.linspace(0, width, steps + 1).astype(int)
        inked, sums = np.add.reduceat(counts, cuts[:-1]), np.add.reduceat(sums, cuts[:-1])
        # Where two lines touch, the middle of both is not the middle of a line.
        kept = (inked > 0) & (inked < _TOUCHING * thickness * np.diff(cuts))
        middles = left + (cuts[:-1] + cuts[1:] - 1)[kept] / 2
        points = zip(middles.tolist(), (sums[kept] / inked[kept]).tolist(), strict=True)
        return Course(tuple(points), _FULL * thickness) if kept.sum() >= 3 else None


def _labels(runs: Runs) -> Ints:
    """Return for each run the lowest index among the runs of its group."""
    above, below = _touching(runs)
    parents = np.arange(len(runs.rows))
    while True:
        one, other = parents[above], parents[below]
        apart = one != other
        if not apart.any():
            return parents
        above, below, one, other = above[apart], below[apart], one[apart], other[apart]
        np.minimum.at(parents, np.maximum(one, other), np.minimum(one, other))
        parents = _flattened(parents)


def _flattened(parents: Ints) -> Ints:
    """Make every run point directly to the root of its tree (union-find), and return the result."""
    while True:
        shorter = parents[parents]
        if np.array_equal(shorter, parents):
            return parents
        parents = shorter


def _touching(runs: Runs) -> tuple[Ints, Ints]:
    """Return index pairs of runs in neighbouring rows that touch, also at corners."""
    step = runs.width + 2
    row_above = (runs.rows - 1) * step
    first = np.searchsorted(runs.rows * step + runs.ends, row_above + runs.starts, "left")
    last = np.searchsorted(runs.rows * step + runs.starts, row_above + runs.ends, "right")
    counts = np.maximum(last - first, 0)
    below = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(len(below)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(first, counts) + offsets, below


# The smallest rectangle around points, at whatever angle: rotating calipers on a convex hull.

# Maximum difference of equal areas.
_SMALLEST = 1e-9


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rotated rectangle, in pixels from the top left; y points down.

    Its direction is the reading direction.
    """

    x: float
    """Centre, from the left edge, in pixels."""
    y: float
    """Centre, from the top edge, in pixels."""
    length: float
    """Length of the side along the direction."""
    breadth: float
    """Length of the side across the direction."""
    dx: float
    """Horizontal component of the direction's unit vector."""
    dy: float
    """Vertical component of the direction's unit vector."""
    course: Course | None = None
    """Middle line of the text as a curve; None if it is not needed."""
    is_filled: bool = True
    """Whether text covers most of the rectangle; False for bent lines."""

    def grown(self, margin: float) -> Rectangle:
        """Return the rectangle with a margin on all four sides."""
        length, breadth = self.length + 2 * margin, self.breadth + 2 * margin
        return Rectangle(self.x, self.y, length, breadth, self.dx, self.dy)

    def turned(self) -> Rectangle:
        """Return the same rectangle with its direction rotated clockwise by 90 degrees."""
        return Rectangle(self.x, self.y, self.breadth, self.length, -self.dy, self.dx)

    def reversed(self) -> Rectangle:
        """Return the same rectangle with the opposite direction."""
        return Rectangle(self.x, self.y, self.length, self.breadth, -self.dx, -self.dy)

    def corners(self) -> Quad:
        """Return the corners in reading direction, beginning at the top left of the text."""
        ax, ay = self.dx * self.length / 2, self.dy * self.length / 2
        bx, by = -self.dy * self.breadth / 2, self.dx * self.breadth / 2
        return (
            (self.x - ax - bx, self.y - ay - by),
            (self.x + ax - bx, self.y + ay - by),
            (self.x + ax + bx, self.y + ay + by),
            (self.x - ax + bx, self.y - ay + by),
        )


def smallest_rectangle(outline: Ints) -> Rectangle:
    """Return the rotated rectangle of smallest area around points.

    Args:
        outline: x and y of the first and the last pixel in each pixel row of a group, int64, shape
            (points, 2).

    Returns:
        A rectangle through the centres of the outer pixels. Its direction is at most 45 degrees
        from horizontal, to the right.
    """
    hull = convex_hull(outline)
    steps = np.roll(hull, -1, axis=0) - hull
    sizes = np.hypot(steps[:, 0], steps[:, 1])
    units = steps[sizes > 0] / sizes[sizes > 0, None]
    if not len(units):
        return Rectangle(float(hull[0, 0]), float(hull[0, 1]), 0.0, 0.0, 1.0, 0.0)
    along = hull @ units.T
    across = hull @ np.stack((-units[:, 1], units[:, 0]))
    lengths = along.max(axis=0) - along.min(axis=0)
    breadths = across.max(axis=0) - across.min(axis=0)
    areas = lengths * breadths
    best = int(np.argmax(areas <= areas.min() + _SMALLEST))
    u, v = units[best], np.array((-units[best, 1], units[best, 0]))
    middle = u * (along[:, best].max() + along[:, best].min()) / 2
    middle += v * (across[:, best].max() + across[:, best].min()) / 2
    x, y, length, breadth, dx, dy = map(float, (*middle, lengths[best], breadths[best], *u))
    return _upright(Rectangle(x, y, length, breadth, dx, dy))


def _upright(rectangle: Rectangle) -> Rectangle:
    """Return the same rectangle with its direction to the right, within 45 degrees."""
    if abs(rectangle.dy) > abs(rectangle.dx):
        rectangle = rectangle.turned()
    return rectangle if rectangle.dx > 0 else rectangle.reversed()


def convex_hull(points: Ints) -> Doubles:
    """Return the corners of the convex hull, float64, shape (corners, 2), each once."""
    order = np.lexsort((points[:, 0], points[:, 1]))
    ordered: list[tuple[int, int]] = [(int(x), int(y)) for x, y in points[order]]
    ordered = list(dict.fromkeys(ordered))
    if len(ordered) < 3:
        return np.array(ordered, np.float64)
    return np.array(_chain(ordered) + _chain(ordered[::-1]), np.float64)


def _chain(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return one half of the convex hull of sorted points, without the half's last corner."""
    chain: list[tuple[int, int]] = []
    for x, y in points:
        while len(chain) > 1 and _bends_in(chain[-2], chain[-1], x, y):
            chain.pop()
        chain.append((x, y))
    return chain[:-1]


def _bends_in(first: tuple[int, int], middle: tuple[int, int], x: int, y: int) -> bool:
    return (middle[0] - first[0]) * (y - first[1]) <= (middle[1] - first[1]) * (x - first[0])


# From the detector's map of text to rectangles around lines (differentiable binarisation).

# Maximum number of lines of a page; the largest are used.
MOST_BOXES = 2_000
# Probability above which a pixel is text.
_TEXT = 0.3
# Minimum mean probability inside a rectangle.
_LEAST_MEAN = 0.5
# The network returns shrunken lines; they are enlarged by this fraction of area / perimeter.
_GROWTH = 1.6
# Distance between the points of a line's curve, in heights of its part of the map.
_COURSE_STEP = 3.0
# A part that is this many times as high as elsewhere contains two lines.
_TOUCHING = 1.6
# Height of a line, in heights of its part of the map, after enlarging by _GROWTH.
_FULL = 2.6
_LEAST_SIDE = 2
_LEAST_GROWN_SIDE = 5.0


def text_rectangles(values: Singles) -> list[Rectangle]:
    """Return a rectangle around each line of text in the detection network's output.

    Args:
        values: probability that each pixel is text, float32, shape (height, width).

    Returns:
        The rectangles in pixels of the map, at most MOST_BOXES.
    """
    pieces = groups_of(_grown_by_one(values > _TEXT))
    found = []
    for index in pieces.largest(_LEAST_SIDE, MOST_BOXES):
        core = smallest_rectangle(pieces.outline(index))
        if min(core.length, core.breadth) < _LEAST_SIDE:
            continue
        is_filled = _mean(values, core) >= _LEAST_MEAN
        course = pieces.course(index)
        if not (is_filled or (course is not None and course.sag > BENT)):
            continue
        margin = core.length * core.breadth * _GROWTH / (2 * (core.length + core.breadth))
        grown = core.grown(margin)
        if min(grown.length, grown.breadth) >= _LEAST_GROWN_SIDE:
            found.append(replace(grown, course=course, is_filled=is_filled))
    return found


def _grown_by_one(mask: Bools) -> Bools:
    """Grow True areas by one pixel to the right and downwards, to join broken lines."""
    grown = mask.copy()
    grown[:, 1:] |= mask[:, :-1]
    grown[1:] |= grown[:-1].copy()
    return grown


def _mean(values: Singles, rectangle: Rectangle) -> float:
    corners = np.array(rectangle.corners())
    height, width = values.shape
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, (width - 1, height - 1)).astype(int)
    part = values[top : bottom + 1, left : right + 1]
    if abs(rectangle.dy) < 1e-6:
        return float(part.mean())
    x = np.arange(left, right + 1)[None, :] - rectangle.x
    y = np.arange(top, bottom + 1)[:, None] - rectangle.y
    along = np.abs(x * rectangle.dx + y * rectangle.dy) <= rectangle.length / 2 + 0.5
    across = np.abs(y * rectangle.dx - x * rectangle.dy) <= rectangle.breadth / 2 + 0.5
    inside = part[along & across]
    return float(inside.mean()) if inside.size else 0.0
