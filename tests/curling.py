"""Bends drawn pages like books, rolls or damp paper, and photographs them from the side."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

KINDS = ("bulge", "gutter", "sine", "corner", "twist")
"""An arch over the page; a page that goes down into its book; a wave; an arch that fades towards
the foot; one that turns round towards it."""
BULGE = 45 / 1240
"""How far print leaves its line, in widths of the page."""
_MARGIN = 0.06
"""Of paper around the page, in its widths."""
_ASIDE = 0.03
"""How far a corner moves where the page is seen from aside, in its widths."""


def curled(pixels: Any, kind: str, seed: int, bulge: float = BULGE) -> Any:
    """Bend a page and photograph it from the side.

    Args:
        pixels: RGB, uint8, shape (height, width, 3).
        kind: one of KINDS.
        seed: of the side to which it bends and of the camera's place.
        bulge: see BULGE.

    Returns:
        RGB, uint8, somewhat larger.
    """
    random = Random(seed)
    height, width = pixels.shape[:2]
    margin = round(_MARGIN * width)
    rows, columns = np.mgrid[-margin : height + margin, -margin : width + margin].astype(float)
    x, y = _from_aside(columns, rows, (width, height), random)
    sign = random.choice((-1, 1))
    wave = random.uniform(0, 2 * np.pi)
    across, down = x / width, y / height
    arch = np.sin(np.pi * across)
    gutter = np.exp(-6 * np.maximum(across, 0))
    bend = {
        "bulge": arch,
        "gutter": gutter,
        "sine": np.sin(2 * np.pi * across + wave) / 2,
        "corner": 1.2 * arch * (1 - down),
        "twist": arch * (2 * down - 1),
    }[kind]
    if kind == "gutter":  # what goes down into the book is seen narrower
        x = x + bulge * width * gutter / 2
    return _looked_up(pixels, x, y + sign * bulge * width * bend)


def _from_aside(x: Any, y: Any, size: tuple[int, int], random: Random) -> tuple[Any, Any]:
    """Return a homography: the position on the flat page of each point of the photograph."""
    width, height = size
    known, wanted = [], []
    for left, top in ((0, 0), (width, 0), (width, height), (0, height)):
        u, v = (side + random.uniform(-_ASIDE, _ASIDE) * width for side in (left, top))
        known += [[u, v, 1, 0, 0, 0, -left * u, -left * v], [0, 0, 0, u, v, 1, -top * u, -top * v]]
        wanted += [left, top]
    a, b, c, d, e, f, g, h = np.linalg.solve(np.array(known), np.array(wanted))
    depth = g * x + h * y + 1
    return (a * x + b * y + c) / depth, (d * x + e * y + f) / depth


def _looked_up(pixels: Any, x: Any, y: Any) -> Any:
    """Return the interpolated colours at positions; outside the page, that of paper."""
    height, width = pixels.shape[:2]
    left, top = np.clip(x, 0, width - 1.001), np.clip(y, 0, height - 1.001)
    column, row = left.astype(int), top.astype(int)
    right, below = (left - column)[..., None], (top - row)[..., None]
    upper = pixels[row, column] * (1 - right) + pixels[row, column + 1] * right
    lower = pixels[row + 1, column] * (1 - right) + pixels[row + 1, column + 1] * right
    found = upper * (1 - below) + lower * below
    found[(left != x) | (top != y)] = np.median(pixels, axis=(0, 1))
    return np.rint(found).astype(np.uint8)
