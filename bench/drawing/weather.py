"""Draws weather symbols, for the global dataset of type image."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bench.drawing.canvas import Canvas, Colour, near, ring_points

SIZE = 112
_YELLOW, _GREY, _BLUE, _WHITE = (245, 190, 45), (200, 204, 210), (45, 105, 200), (245, 248, 252)


def draw_weather(label: str, rng: Random) -> bytes:
    """Draw one weather symbol, as JPEG."""
    canvas = Canvas(SIZE, SIZE, rng)
    symbol = _Symbol(canvas, rng)
    WEATHER[label](symbol)
    return canvas.jpeg()


class _Symbol:
    """A weather symbol of random size and position."""

    def __init__(self, canvas: Canvas, rng: Random) -> None:
        self._canvas, self._rng = canvas, rng
        self._size = rng.uniform(0.22, 0.34) * SIZE
        self._x, self._y = rng.uniform(0.4, 0.6) * SIZE, rng.uniform(0.38, 0.55) * SIZE

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Fill a disc."""
        centre = (self._x + x * self._size, self._y + y * self._size)
        reach = radius * self._size
        self._canvas.ellipse(centre, (reach, reach), near(colour, self._rng, 12))

    def stroke(self, points: list[tuple[float, float]], width: float, colour: Colour) -> None:
        """Draw a line."""
        placed = [(self._x + x * self._size, self._y + y * self._size) for x, y in points]
        self._canvas.line(placed, width * self._size, near(colour, self._rng, 12))


def _sun(symbol: _Symbol) -> None:
    for x, y in ring_points((0, 0), 1.3, 8, 0.2):
        symbol.stroke([(x * 0.7, y * 0.7), (x, y)], 0.14, _YELLOW)
    symbol.disc(0, 0, 0.7, _YELLOW)


def _cloud(symbol: _Symbol) -> None:
    symbol.stroke([(-0.7, 0.25), (0.7, 0.25)], 0.62, _GREY)
    for x, y, radius in ((-0.6, 0.1, 0.45), (0, -0.2, 0.62), (0.6, 0.1, 0.48)):
        symbol.disc(x, y, radius, _GREY)


def _rain(symbol: _Symbol) -> None:
    for x in (-0.55, 0, 0.55):
        symbol.stroke([(x, 0.6), (x - 0.2, 1.3)], 0.16, _BLUE)
    _cloud(symbol)


def _snow(symbol: _Symbol) -> None:
    for x, y in ((-0.6, 0.9), (0.05, 1.2), (0.6, 0.85), (-0.25, 1.5)):
        symbol.disc(x, y, 0.15, _WHITE)
    _cloud(symbol)


def _storm(symbol: _Symbol) -> None:
    symbol.stroke([(0.15, 0.4), (-0.2, 0.95), (0.15, 0.95), (-0.15, 1.55)], 0.18, _YELLOW)
    _cloud(symbol)


WEATHER: dict[str, Callable[[_Symbol], None]] = {
    "cloud": _cloud,
    "rain": _rain,
    "snow": _snow,
    "storm": _storm,
    "sun": _sun,
}
