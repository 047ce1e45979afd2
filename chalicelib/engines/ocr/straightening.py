"""Straightens photographed pages that are bent, such as those of books.

The lines of text show the slope of the page at many positions. A smooth field is fitted to these
slopes. Curves that follow the field become the rows of the straightened page. The paper may have
any shape, so every bend and camera angle is handled in the same way. (Cao, Ding and Liu 2003
assume a cylinder.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.domain.documents.page import BENT, Course, Unrolling

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Pixels, Singles

# Minimum number of bent lines on a bent page; a seal or a logo has fewer.
_FEWEST = 3
# Minimum fraction of the lines' length that is bent on a bent page.
_SHARE = 0.1
# Maximum size of a straightened page; larger ones are scaled down.
_MOST_PIXELS = 12_000_000
# Number of mesh cells along the longer side of the straightened page.
_CELLS = 48
# Maximum distance of a line's ink from its supposed middle, in heights.
_REACH = 0.6
# Minimum contrast of ink, as a fraction of the strongest contrast.
_FAINT = 0.3
# Degree of the polynomial that corrects the curve of a long line.
_WAVES = 4
# Number of positions in a line for each degree of the polynomial.
_POINTS_A_WAVE = 5
# Number of corrections; each may bring further ink within reach.
_APPROACHES = 3
# Number of spline segments across the page; the bend at a book gutter covers one or two.
_KNOTS = 10
# Weight of smoothness in relation to a measured slope.
_SMOOTH = 0.3
# Repetitions of the fit; each gives less weight to slopes that deviate from the last fit.
_ROUNDS = 6
# Deviation of a slope that halves its weight.
_OUTLIER_SLOPE = 0.02
# Maximum slope of a row; letters of steeper rows are too narrow to be recognised.
_STEEPEST = 1.0


def find_unrolling(pixels: Pixels, courses: Sequence[Course]) -> Unrolling | None:
    """Find the mapping that straightens a page; None for a flat page.

    A page that is only rotated or photographed from the side counts as flat.

    Args:
        pixels: RGB, uint8, shape (height, width, 3).
        courses: curves of the page's lines, in pixels.
    """
    bent = [course.length for course in courses if course.sag > BENT]
    if len(bent) < _FEWEST or sum(bent) < _SHARE * sum(course.length for course in courses):
        return None
    grey = np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).convert("L"))
    courses = [_along_ink(grey, course) for course in courses]
    frame = _Frame(courses, *grey.shape[::-1])
    places, slopes = frame.points_on_text(courses)
    return frame.unrolling(_Slopes(places, slopes)) if len(slopes) else None


def straightened(pixels: Pixels, unrolling: Unrolling) -> Pixels:
    """Straighten the pixels of a page, uint8, shape (height, width, 3).

    Points outside the page get the median colour of its border pixels.
    """
    edge = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    red, green, blue = (int(value) for value in np.median(edge, axis=0))
    meshes = [
        (
            tuple(n * unrolling.step for n in (column, row, column + 1, row + 1)),
            (*above[column], *below[column], *below[column + 1], *above[column + 1]),
        )
        for row, (above, below) in enumerate(pairwise(unrolling.nodes))
        for column in range(len(above) - 1)
    ]
    image = Image.fromarray(np.ascontiguousarray(pixels)).transform(
        (unrolling.width, unrolling.height),
        Image.Transform.MESH,
        meshes,
        Image.Resampling.BICUBIC,
        fillcolor=(red, green, blue),
    )
    return np.asarray(image)


def _along_ink(grey: Pixels, course: Course) -> Course:
    """Fit a curve to the middle of a line's ink, which is more exact than the detected box."""
    x, y = np.array(course.points).T
    columns = np.arange(max(0, math.ceil(x[0])), min(grey.shape[1], math.floor(x[-1]) + 1))
    reach = max(2, round(_REACH * course.height))
    if len(columns) < reach or x[0] >= x[-1]:
        return course
    away = np.arange(-reach, reach + 1)
    degree = min(_WAVES, len(x) // _POINTS_A_WAVE)
    for _ in range(_APPROACHES):
        rows = np.rint(np.interp(columns, x, y)).astype(int) + away[:, None]
        strip = grey[np.clip(rows, 0, len(grey) - 1), columns].astype(np.float32)
        ink = _ink_of(strip)
        weight = ink.sum(axis=0)
        if not weight.any():
            return course
        off = (ink * away[:, None]).sum(axis=0) / np.maximum(weight, 1)
        along = 2 * (columns - x[0]) / (x[-1] - x[0]) - 1
        bend = np.polynomial.polynomial.polyfit(along, off, degree, w=np.sqrt(weight))
        y = y + np.polynomial.polynomial.polyval(2 * (x - x[0]) / (x[-1] - x[0]) - 1, bend)
    return Course(tuple(zip(x.tolist(), y.tolist(), strict=True)), course.height)


def _ink_of(strip: Singles) -> Singles:
    """Return how much each pixel of a line differs from the surrounding paper."""
    height, width = strip.shape
    # Light changes along a line, so the paper's brightness is measured for a few letters at a
    # time.
    parts = np.array_split(strip, max(1, width // height), axis=1)
    ink = np.concatenate([np.abs(part - np.median(part)) for part in parts], axis=1)
    ink[ink < _FAINT * ink.max()] = 0
    return ink


class _Frame:
    """The page, rotated so that most of its text is horizontal."""

    def __init__(self, courses: Sequence[Course], width: int, height: int) -> None:
        steps = np.array([np.subtract(c.points[-1], c.points[0]) for c in courses])
        self._angle = float(np.median(np.arctan2(steps[:, 1], steps[:, 0])))
        self._middle = np.array((width / 2, height / 2))
        sides = np.array(((0, 0), (width, 0), (width, height), (0, height)))
        turned = self._turned(sides)
        self._low, self._high = turned.min(axis=0), turned.max(axis=0)
        self._step = max(8, math.ceil(max(self._high - self._low) / _CELLS))

    def points_on_text(self, courses: Sequence[Course]) -> tuple[Doubles, Doubles]:
        """Return points on the lines of text of the rotated page, and the line's slope at each."""
        places, slopes = [], []
        for course in courses:
            points = self._turned(np.array(course.points))
            steps = np.diff(points, axis=0)
            level = steps[:, 0] > np.abs(steps[:, 1])
            places.append(((points[1:] + points[:-1]) / 2)[level])
            slopes.append(steps[level, 1] / steps[level, 0])
        return np.concatenate(places), np.concatenate(slopes)

    def unrolling(self, slopes: _Slopes) -> Unrolling:
        """Return the mapping that straightens the page, by following the slopes in each row."""
        low, high, step = self._low, self._high, self._step
        columns = np.arange(low[0], high[0] + step, step)
        start = len(columns) // 2
        # Rows begin above the page and end below it, because some curves enter the page there.
        reach = (high[1] - low[1]) / 2
        rows = np.arange(low[1] - reach, high[1] + reach + step, step)
        curves = np.empty((len(rows), len(columns)))
        curves[:, start] = rows
        for column in range(start, len(columns) - 1):
            curves[:, column + 1] = slopes.follow(columns[column], curves[:, column], step)
        for column in range(start, 0, -1):
            curves[:, column - 1] = slopes.follow(columns[column], curves[:, column], -step)
        on_page = np.flatnonzero((curves.max(axis=1) >= low[1]) & (curves.min(axis=1) <= high[1]))
        curves = curves[on_page[0] : on_page[-1] + 1]
        points = np.stack((np.broadcast_to(columns, curves.shape), curves), axis=2)
        nodes = self._turned(points, back=True)
        across, down = len(columns) - 1, len(curves) - 1
        finest = math.sqrt(_MOST_PIXELS / (across * down))
        step = max(1, min(step, int(finest)))
        return Unrolling(
            step * across,
            step * down,
            step,
            tuple(tuple((x, y) for x, y in row) for row in nodes.tolist()),
        )

    def _turned(self, points: Doubles, *, back: bool = False) -> Doubles:
        """Rotate points, shape (…, 2), so that text is horizontal; with `back`, undo this."""
        angle = self._angle if back else -self._angle
        cosine, sine = math.cos(angle), math.sin(angle)
        x, y = np.moveaxis(points - self._middle, -1, 0)
        turned = np.stack((x * cosine - y * sine, x * sine + y * cosine), -1)
        found: Doubles = turned + self._middle
        return found


class _Slopes:
    """A smooth field of slopes: a cubic spline horizontally, a parabola vertically."""

    def __init__(self, places: Doubles, slopes: Doubles) -> None:
        low, high = places.min(axis=0), places.max(axis=0)
        self._low, self._span = low, np.maximum(high - low, 1.0)
        known = self._terms(places)
        bending = np.diff(np.eye(_KNOTS + 3), 2, axis=0) * math.sqrt(_SMOOTH * len(slopes) / _KNOTS)
        smooth = np.kron(np.eye(3), bending)
        weights = np.ones(len(slopes))
        for _ in range(_ROUNDS):
            matrix = np.concatenate((known * weights[:, None], smooth))
            target = np.concatenate((slopes * weights, np.zeros(len(smooth))))
            self._factors = np.linalg.lstsq(matrix, target, rcond=None)[0]
            away = (slopes - known @ self._factors) / _OUTLIER_SLOPE
            weights = np.sqrt(1 / (1 + away**2))

    def follow(self, x: float, y: Doubles, step: float) -> Doubles:
        """Move points along the slopes by one step; return their new y (midpoint method)."""
        half = y + self._at(x, y) * step / 2
        return y + self._at(x + step / 2, half) * step

    def _at(self, x: float, y: Doubles) -> Doubles:
        places = np.stack((np.full_like(y, x), y), 1)
        found: Doubles = np.clip(self._terms(places) @ self._factors, -_STEEPEST, _STEEPEST)
        return found

    def _terms(self, places: Doubles) -> Doubles:
        """Return the basis functions at positions, which are clipped to the text's extent."""
        across, down = np.moveaxis(np.clip((places - self._low) / self._span, 0, 1), 1, 0)
        spline = _cubic(across * _KNOTS)
        down = 2 * down - 1
        return np.concatenate([spline * down[:, None] ** power for power in range(3)], axis=1)


def _cubic(places: Doubles) -> Doubles:
    """Return the uniform cubic B-splines at positions from 0 to _KNOTS (de Boor 1978)."""
    away = np.abs(places[:, None] - np.arange(-1, _KNOTS + 2))
    near = (4 - 6 * away**2 + 3 * away**3) / 6
    found: Doubles = np.where(away < 1, near, np.maximum(2 - away, 0) ** 3 / 6)
    return found
