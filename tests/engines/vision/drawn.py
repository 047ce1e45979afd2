"""Images drawn with Pillow for tests: circles, squares and stripes."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from chalicelib.domain.documents.picture import Picture

SHAPES = ("circle", "square", "stripes")
_COLOURS = ((200, 40, 40), (40, 160, 60), (50, 70, 200), (220, 180, 40))


def draw(shape: str, seed: int, size: tuple[int, int] = (400, 340)) -> Picture:
    """Draw a shape at a random place on grey."""
    generator = np.random.default_rng(seed)
    image = Image.new("RGB", size, (int(generator.integers(150, 250)),) * 3)
    pen = ImageDraw.Draw(image)
    colour = _COLOURS[int(generator.integers(0, len(_COLOURS)))]
    side = int(generator.integers(120, 220))
    left, top = (int(generator.integers(0, edge - side)) for edge in size)
    if shape == "circle":
        pen.ellipse((left, top, left + side, top + side), fill=colour)
    elif shape == "square":
        pen.rectangle((left, top, left + side, top + side), fill=colour)
    else:
        for offset in range(0, side, 24):
            pen.rectangle((left, top + offset, left + side, top + offset + 10), fill=colour)
    return Picture(np.asarray(image), *size)
