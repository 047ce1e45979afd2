"""Draws fruits on a table, for the global datasets image-detection and image-multi-label."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from bench.drawing.canvas import Canvas, Point, ellipse_points, near, rotated

WIDTH, HEIGHT = 256, 192
_TRIES = 40
_STALK = (95, 70, 40)
Corners = tuple[int, int, int, int]


def draw_fruits(labels: list[str], rng: Random) -> tuple[bytes, list[tuple[str, Corners]]]:
    """Draw fruits that do not overlap.

    Returns:
        The JPEG, and the label and the corners (left, top, right, bottom) of each drawn fruit.
    """
    canvas = Canvas(WIDTH, HEIGHT, rng)
    placed: list[tuple[str, Corners]] = []
    for label in labels:
        for _ in range(_TRIES):
            radius = rng.uniform(14, 34)
            centre = (
                rng.uniform(radius * 1.3, WIDTH - radius * 1.3),
                rng.uniform(radius * 1.3, HEIGHT - radius * 1.3),
            )
            turn = rng.uniform(-0.6, 0.6)
            box = _corners(_outline(label, centre, radius, turn))
            if not any(_overlap(box, other) for _, other in placed):
                FRUITS[label](canvas, centre, radius, turn)
                placed.append((label, box))
                break
    return canvas.jpeg(), placed


def _outline(label: str, centre: Point, radius: float, turn: float) -> list[Point]:
    if label == "banana":
        return _crescent(centre, radius, turn)
    radii = (radius, radius * (1.3 if label == "pear" else 1.0))
    return ellipse_points(centre, radii, turn)


def _corners(points: list[Point]) -> Corners:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (
        max(0, math.floor(min(xs))),
        max(0, math.floor(min(ys))),
        min(WIDTH, math.ceil(max(xs))),
        min(HEIGHT, math.ceil(max(ys))),
    )


def _overlap(one: Corners, other: Corners) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crescent(centre: Point, radius: float, turn: float) -> list[Point]:
    angles = [math.pi * (0.08 + 0.84 * place / 20) for place in range(21)]
    outer = [(radius * 1.25 * math.cos(a), radius * math.sin(a) - radius * 0.4) for a in angles]
    inner = [
        (radius * 1.15 * math.cos(a), radius * 0.45 * math.sin(a) - radius * 0.4) for a in angles
    ]
    return [rotated(point, centre, turn) for point in (*outer, *reversed(inner))]


def _shade(canvas: Canvas, centre: Point, radius: float) -> None:
    spot = (centre[0] - radius * 0.35, centre[1] - radius * 0.35)
    canvas.ellipse(spot, (radius * 0.16, radius * 0.12), (250, 246, 230), 0.5)


def _apple(canvas: Canvas, centre: Point, radius: float, turn: float) -> None:
    canvas.ellipse(centre, (radius, radius), near((190, 35, 40), canvas.rng), turn)
    stalk = [rotated((0, -radius * 0.4), centre, turn), rotated((0, -radius), centre, turn)]
    canvas.line(stalk, radius * 0.12, _STALK)
    _shade(canvas, centre, radius)


def _orange(canvas: Canvas, centre: Point, radius: float, turn: float) -> None:
    canvas.ellipse(centre, (radius, radius), near((240, 140, 25), canvas.rng), turn)
    dot = rotated((radius * 0.1, -radius * 0.55), centre, turn)
    canvas.ellipse(dot, (radius * 0.1, radius * 0.08), (90, 110, 40))
    _shade(canvas, centre, radius)


def _pear(canvas: Canvas, centre: Point, radius: float, turn: float) -> None:
    green = near((150, 175, 55), canvas.rng)
    belly = rotated((0, radius * 0.35), centre, turn)
    canvas.ellipse(belly, (radius, radius * 0.95), green, turn)
    canvas.ellipse(
        rotated((0, -radius * 0.5), centre, turn), (radius * 0.55, radius * 0.75), green, turn
    )
    stalk = [rotated((0, -radius), centre, turn), rotated((0, -radius * 1.3), centre, turn)]
    canvas.line(stalk, radius * 0.1, _STALK)
    _shade(canvas, belly, radius)


def _banana(canvas: Canvas, centre: Point, radius: float, turn: float) -> None:
    canvas.polygon(_crescent(centre, radius, turn), near((240, 210, 60), canvas.rng))


FRUITS: dict[str, Callable[[Canvas, Point, float, float], None]] = {
    "apple": _apple,
    "banana": _banana,
    "orange": _orange,
    "pear": _pear,
}
