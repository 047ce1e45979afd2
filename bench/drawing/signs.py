"""Draws road signs, for the sample dataset of type image."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from bench.drawing.canvas import Canvas, Colour, Point, near, ring_points, rotated

SIZE = 128
_RED, _WHITE, _BLUE, _BLACK, _YELLOW = (
    (190, 30, 40),
    (240, 240, 238),
    (30, 80, 170),
    (25, 25, 28),
    (240, 195, 40),
)


def draw_sign(label: str, rng: Random) -> bytes:
    """Draw one sign on a post in front of a background, as JPEG."""
    canvas = Canvas(SIZE, SIZE, rng)
    centre = (rng.uniform(0.38, 0.62) * SIZE, rng.uniform(0.36, 0.55) * SIZE)
    sign = _Sign(canvas, centre, rng.uniform(0.2, 0.36) * SIZE, rng.uniform(-0.18, 0.18))
    canvas.line([centre, (centre[0], SIZE)], sign.radius * 0.14, near((120, 120, 124), rng))
    SIGNS[label](sign)
    return canvas.jpeg()


class _Sign:
    """A sign in its own coordinates: -1 to 1 around its centre, y down."""

    def __init__(self, canvas: Canvas, centre: Point, radius: float, turn: float) -> None:
        self._canvas, self._centre, self.radius, self._turn = canvas, centre, radius, turn

    def polygon(self, points: list[Point], colour: Colour) -> None:
        """Fill a polygon in a random colour close to `colour`."""
        placed = [
            rotated((x * self.radius, y * self.radius), self._centre, self._turn) for x, y in points
        ]
        self._canvas.polygon(placed, near(colour, self._canvas.rng))

    def regular(self, corners: int, radius: float, colour: Colour, turn: float = 0.0) -> None:
        """Fill a regular polygon; many corners make a disc."""
        self.polygon(ring_points((0, 0), radius, corners, turn), colour)

    def bar(self, width: float, height: float, colour: Colour, at: Point = (0, 0)) -> None:
        """Fill an upright rectangle whose centre is `at`."""
        x, y, w, h = at[0], at[1], width / 2, height / 2
        self.polygon([(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)], colour)


def _stop(sign: _Sign) -> None:
    sign.regular(8, 1.0, _WHITE, math.pi / 8)
    sign.regular(8, 0.92, _RED, math.pi / 8)
    for place in range(4):
        sign.bar(0.2, 0.42, _WHITE, (-0.48 + 0.32 * place, 0))


def _yield(sign: _Sign) -> None:
    sign.regular(3, 1.05, _RED, math.pi)
    sign.regular(3, 0.66, _WHITE, math.pi)


def _no_entry(sign: _Sign) -> None:
    sign.regular(40, 1.0, _RED)
    sign.bar(1.3, 0.34, _WHITE)


def _parking(sign: _Sign) -> None:
    sign.bar(1.8, 1.8, _BLUE)
    sign.bar(0.24, 1.2, _WHITE, (-0.26, 0))
    sign.bar(0.56, 0.22, _WHITE, (0.02, -0.49))
    sign.bar(0.56, 0.22, _WHITE, (0.02, 0.02))
    sign.bar(0.22, 0.7, _WHITE, (0.28, -0.24))


def _speed_limit(sign: _Sign) -> None:
    sign.regular(40, 1.0, _RED)
    sign.regular(40, 0.76, _WHITE)
    for left in (-0.28, 0.28):
        sign.bar(0.38, 0.7, _BLACK, (left, 0))
        sign.bar(0.14, 0.42, _WHITE, (left, 0))


def _priority_road(sign: _Sign) -> None:
    sign.regular(4, 1.05, _WHITE)
    sign.regular(4, 0.8, _YELLOW)


SIGNS: dict[str, Callable[[_Sign], None]] = {
    "no entry": _no_entry,
    "parking": _parking,
    "priority road": _priority_road,
    "speed limit": _speed_limit,
    "stop": _stop,
    "yield": _yield,
}
