"""The smallest rectangle around points, at whatever angle: rotating calipers on a convex hull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.documents.page import Quad

    Doubles = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

_SMALLEST = 1e-9
"""Below, two areas are the same."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle at any angle; the origin of the coordinates is the top left, y points down."""

    x: float
    """Middle, from the left edge, in pixels."""
    y: float
    """Middle, from the top edge."""
    length: float
    """Side along the direction."""
    breadth: float
    """The other side."""
    dx: float
    """Direction of a unit of length, to the right."""
    dy: float
    """The same, downwards."""

    def grown(self, margin: float) -> Rectangle:
        """Return it with a margin on all four sides."""
        length, breadth = self.length + 2 * margin, self.breadth + 2 * margin
        return Rectangle(self.x, self.y, length, breadth, self.dx, self.dy)

    def turned(self) -> Rectangle:
        """Return it described along its other side: the direction a quarter turn clockwise."""
        return Rectangle(self.x, self.y, self.breadth, self.length, -self.dy, self.dx)

    def reversed(self) -> Rectangle:
        """Return it described in the opposite direction."""
        return Rectangle(self.x, self.y, self.length, self.breadth, -self.dx, -self.dy)

    def corners(self) -> Quad:
        """Return the corners as text along the direction is read, from its top left."""
        ax, ay = self.dx * self.length / 2, self.dy * self.length / 2
        bx, by = -self.dy * self.breadth / 2, self.dx * self.breadth / 2
        return (
            (self.x - ax - bx, self.y - ay - by),
            (self.x + ax - bx, self.y + ay - by),
            (self.x + ax + bx, self.y + ay + by),
            (self.x - ax + bx, self.y - ay + by),
        )


def smallest_rectangle(outline: Ints) -> Rectangle:
    """Return the rectangle of the smallest area around points.

    Args:
        outline: x and y of the first and of the last pixel of each row, int64,
            shape (points, 2).

    Returns:
        The rectangle through the pixels' middles; its direction is the one within 45 degrees
        of the right.
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
    found = Rectangle(*map(float, (*middle, lengths[best], breadths[best], *u)))
    return _upright(found)


def _upright(rectangle: Rectangle) -> Rectangle:
    """Describe a rectangle along the direction within 45 degrees of the right."""
    if abs(rectangle.dy) > abs(rectangle.dx):
        rectangle = rectangle.turned()
    return rectangle if rectangle.dx > 0 else rectangle.reversed()


def convex_hull(points: Ints) -> Doubles:
    """Return the corners of the convex hull, float64, shape (corners, 2), without repetition."""
    order = np.lexsort((points[:, 0], points[:, 1]))
    ordered: list[tuple[int, int]] = [(int(x), int(y)) for x, y in points[order]]
    ordered = list(dict.fromkeys(ordered))
    if len(ordered) < 3:
        return np.array(ordered, np.float64)
    return np.array(_chain(ordered) + _chain(ordered[::-1]), np.float64)


def _chain(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return one side of the hull of sorted points, without its last point."""
    chain: list[tuple[int, int]] = []
    for x, y in points:
        while len(chain) > 1 and _bends_in(chain[-2], chain[-1], x, y):
            chain.pop()
        chain.append((x, y))
    return chain[:-1]


def _bends_in(first: tuple[int, int], middle: tuple[int, int], x: int, y: int) -> bool:
    """Say whether the middle point is not a corner of the way from the first to (x, y)."""
    return (middle[0] - first[0]) * (y - first[1]) <= (middle[1] - first[1]) * (x - first[0])
