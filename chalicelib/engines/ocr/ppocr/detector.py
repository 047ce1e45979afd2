"""Detects the text lines of a page with a network."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from chalicelib.domain.documents.page import Course, Point
from chalicelib.engines.ocr.ppocr.boxes import Rectangle, text_rectangles

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels, Singles

# Maximum longer side of a page with small text, and of a long receipt, in pixels.
PAGE, RECEIPT = 1280, 960
# Size to which small scans are enlarged.
MOST_GROWTH = 1.5
# Maximum longer side of a small scan, in pixels.
_SMALL = 1_000
# Minimum height of a receipt, in widths; ordinary pages are less tall.
_TALL = 1.5
# Minimum shorter side of a receipt after scaling, in pixels, which determines the text size.
_LEAST_SIDE = 400
# Maximum length of a strip that is processed at once, in pixels.
_LONGEST = 4_096


def detector_scale(width: int, height: int) -> float:
    """Return the factor by which to scale a page before its lines are detected.

    `width` and `height` are in pixels. The factor is at most MOST_GROWTH; it is above 1 only for
    small scans.
    """
    longest, shortest = max(width, height), min(width, height)
    target = RECEIPT if height >= _TALL * width else PAGE
    scale = min(MOST_GROWTH if longest <= _SMALL else 1.0, target / longest)
    return min(max(scale, min(1.0, _LEAST_SIDE / shortest)), max(scale, _LONGEST / longest))


# The network halves its input five times.
_MULTIPLE = 32
# Margin in pixels around the page, so that lines at the edge are found, too.
_MARGIN = 16
_MIDDLE = 127.5


class Detector:
    """An ONNX network that returns, for each pixel, the probability that it is text."""

    def __init__(self, session: Any) -> None:
        self._session = session
        # Detection needs 300 MB, and a fifth of the time of reading a page.
        self._lock = Lock()

    def find(self, image: Image.Image) -> list[Rectangle]:
        """Return rectangles around the text lines of an RGB image, in pixels of the image."""
        scale = detector_scale(image.width, image.height)
        width = max(1, round(image.width * scale))
        height = max(1, round(image.height * scale))
        small = image
        if small.size != (width, height):
            small = image.resize((width, height), Image.Resampling.BILINEAR)
        framed = _framed(np.asarray(small))
        with self._lock:
            values = self._session.run(None, {"x": _network_input(framed)})[0][0, 0]
        across, down = image.width / width, image.height / height
        return [_on_image(found, across, down) for found in text_rectangles(values)]


def _framed(pixels: Pixels) -> Pixels:
    """Pad an RGB page with its background colour, so that its sides are multiples of 32."""
    height, width = pixels.shape[:2]
    tall = -(-(height + 2 * _MARGIN) // _MULTIPLE) * _MULTIPLE
    wide = -(-(width + 2 * _MARGIN) // _MULTIPLE) * _MULTIPLE
    edge = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    framed = np.empty((tall, wide, 3), np.uint8)
    framed[:] = np.median(edge, axis=0)
    framed[_MARGIN : _MARGIN + height, _MARGIN : _MARGIN + width] = pixels
    return framed


def _network_input(pixels: Pixels) -> Singles:
    """Convert pixels to the network's input: BGR, -1 to 1, float32, shape (1, 3, height, width)."""
    values = np.ascontiguousarray(pixels[:, :, ::-1].transpose(2, 0, 1)[None], np.float32)
    values /= np.float32(_MIDDLE)
    values -= np.float32(1.0)
    return values


def _on_image(area: Rectangle, across: float, down: float) -> Rectangle:
    """Convert a rectangle of the scaled image to pixels of the original image."""
    scale = (across + down) / 2

    def moved(x: float, y: float) -> Point:
        return (x - _MARGIN + 0.5) * across, (y - _MARGIN + 0.5) * down

    course = area.course
    if course is not None:
        points = tuple(moved(x, y) for x, y in course.points)
        course = Course(points, course.height * scale)
    x, y = moved(area.x, area.y)
    length, breadth = area.length * scale, area.breadth * scale
    return Rectangle(x, y, length, breadth, area.dx, area.dy, course, area.is_filled)
