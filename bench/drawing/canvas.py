"""An image to draw on. It is larger than the result, and scaled down, so that edges are smooth."""

from __future__ import annotations

import io
import math
from random import Random

from PIL import Image, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
Point = tuple[float, float]
# Drawn pixels for one pixel of the result, in each direction.
SCALE = 3
_QUALITY = 80


class Canvas:
    """An image to draw on. Coordinates are pixels of the result. The origin is the top left."""

    def __init__(self, width: int, height: int, rng: Random) -> None:
        self.width, self.height, self.rng = width, height, rng
        self._image = Image.new("RGB", (width * SCALE, height * SCALE))
        self._draw = ImageDraw.Draw(self._image)
        self._paint_ground()

    def polygon(self, points: list[Point], fill: Colour) -> None:
        """Fill a polygon."""
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=fill)

    def ellipse(self, centre: Point, radii: Point, fill: Colour, turn: float = 0.0) -> None:
        """Fill an ellipse, turned by an angle in radians."""
        self.polygon(ellipse_points(centre, radii, turn), fill)

    def line(self, points: list[Point], width: float, fill: Colour) -> None:
        """Draw a line with round joints. All lengths are in pixels."""
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self._draw.line(scaled, fill=fill, width=max(1, round(width * SCALE)), joint="curve")

    def jpeg(self) -> bytes:
        """Scale down, add some blur and noise like a camera, and encode."""
        small = self._image.resize((self.width, self.height), Image.Resampling.LANCZOS)
        small = small.filter(ImageFilter.GaussianBlur(self.rng.uniform(0, 0.7)))
        noise = Image.frombytes("L", small.size, self.rng.randbytes(self.width * self.height))
        grain = Image.merge("RGB", (noise, noise, noise))
        stream = io.BytesIO()
        Image.blend(small, grain, self.rng.uniform(0.01, 0.05)).save(
            stream, "JPEG", quality=_QUALITY, optimize=True
        )
        return stream.getvalue()

    def _paint_ground(self) -> None:
        rng = self.rng
        horizon = rng.uniform(0.3, 0.8) * self.height
        self._band(0, horizon, muted(rng))
        self._band(horizon, self.height, muted(rng))
        for _ in range(rng.randint(2, 6)):
            centre = (rng.uniform(0, self.width), rng.uniform(0, self.height))
            radii = (rng.uniform(0.05, 0.3) * self.width, rng.uniform(0.05, 0.3) * self.height)
            self.ellipse(centre, radii, muted(rng), rng.uniform(0, math.pi))

    def _band(self, top: float, bottom: float, fill: Colour) -> None:
        self.polygon([(0, top), (self.width, top), (self.width, bottom), (0, bottom)], fill)


def muted(rng: Random) -> Colour:
    """Return a random dull colour, like the colours of landscapes and walls."""
    grey = rng.randint(70, 190)
    return near((grey, grey, grey), rng, 28)


def near(colour: Colour, rng: Random, spread: int = 22) -> Colour:
    """Return a random colour similar to `colour`."""
    red, green, blue = (max(0, min(255, part + rng.randint(-spread, spread))) for part in colour)
    return red, green, blue


def ring_points(centre: Point, radius: float, count: int, turn: float) -> list[Point]:
    """Return the corners of a regular polygon."""
    x, y = centre
    angles = (turn + 2 * math.pi * corner / count for corner in range(count))
    return [(x + radius * math.sin(a), y - radius * math.cos(a)) for a in angles]


def ellipse_points(centre: Point, radii: Point, turn: float) -> list[Point]:
    """Return 48 points on an ellipse."""
    angles = [2 * math.pi * place / 48 for place in range(48)]
    flat = [(radii[0] * math.cos(a), radii[1] * math.sin(a)) for a in angles]
    return [rotated(point, centre, turn) for point in flat]


def rotated(point: Point, centre: Point, turn: float) -> Point:
    """Rotate a point around the origin by `turn`, then move it by `centre`."""
    x, y = point
    return (
        centre[0] + x * math.cos(turn) - y * math.sin(turn),
        centre[1] + x * math.sin(turn) + y * math.cos(turn),
    )
