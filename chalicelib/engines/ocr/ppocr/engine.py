"""The PP-OCRv6 text engine. Implements chalicelib/engines/ocr/interface.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.domain.documents.characters import ALPHABETS
from chalicelib.domain.documents.page import Course, Point, Quad, TextLine, around_points
from chalicelib.engines.memory import release_memory_beyond
from chalicelib.engines.ocr.interface import PPOCR, CancelCheck
from chalicelib.engines.ocr.order import in_reading_order
from chalicelib.engines.ocr.ppocr.crops import crop_width, cut_crop
from chalicelib.engines.ocr.ppocr.ctc import NOTHING, RecognisedText
from chalicelib.engines.ocr.ppocr.directions import chosen_quads

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels, Singles
    from chalicelib.engines.ocr.ppocr.detector import Detector
    from chalicelib.engines.ocr.ppocr.recogniser import Recogniser

    Steps = Singles

# Larger pages are scaled down before anything else.
MOST_PIXELS = 12_000_000
# Text with a lower probability is dropped.
_LEAST_PROBABILITY = 0.5
# Contrast below which the contrast of a page is increased: a quarter of the range.
_PALE = 64
# Minimum size of a character, in pixels.
_LEAST_SIDE = 3
# A line whose ends differ by less, as a fraction of its height, needs no corners.
_UPRIGHT = 0.02


class PpOcr:
    """Detects text lines with one network, recognises them with another; thread-safe."""

    name = PPOCR

    def __init__(self, detector: Detector, recogniser: Recogniser) -> None:
        self._detector = detector
        self._recogniser = recogniser

    def in_alphabet(self, alphabet: str) -> PpOcr:
        """Return an engine that outputs letters of another alphabet. See: TextEngine."""
        output = ALPHABETS.index(alphabet)
        return PpOcr(self._detector, self._recogniser.with_output(output))

    def read(self, pixels: Pixels, check: CancelCheck) -> tuple[TextLine, ...]:
        """Detect and recognise all text lines of a page. See: TextEngine."""
        check()
        if min(pixels.shape[:2]) < _LEAST_SIDE:
            return ()
        image, scale = _bounded(pixels)
        # Detection needs the most memory, so memory of earlier pages is freed first.
        release_memory_beyond()
        found = self._detector.find(image)
        check()

        def recognise(quads: Sequence[Quad]) -> list[RecognisedText]:
            return self._recognised(image, quads, check)

        # The rectangle of a bent line does not fit it. The line is read after straightening.
        read = chosen_quads([place for place in found if place.is_filled], recognise)
        read += [(place.corners(), NOTHING) for place in found if not place.is_filled]
        courses = {place.corners(): place.course for place in found if place.course is not None}
        lines = [
            _line(quad, _readable(reading), scale, image, courses.get(quad))
            for quad, reading in read
        ]
        unread = [line for line in lines if not line.text]
        return (*in_reading_order([line for line in lines if line.text]), *unread)

    def read_crops(
        self, pixels: Pixels, quads: Sequence[Quad], check: CancelCheck
    ) -> tuple[TextLine | None, ...]:
        """Recognise areas that contain one line each. See: TextEngine."""
        check()
        if min(pixels.shape[:2]) < _LEAST_SIDE:
            return (None,) * len(quads)
        image, scale = _bounded(pixels)
        scaled = [_scaled(quad, 1 / scale) for quad in quads]
        readings = self._recognised(image, scaled, check)
        return tuple(
            _line(quad, reading, scale, image) if reading.text else None
            for quad, reading in zip(scaled, readings, strict=True)
        )

    def score_crops(
        self, pixels: Pixels, quads: Sequence[Quad], letters: str, check: CancelCheck
    ) -> tuple[Steps, ...]:
        """Return probabilities of characters in areas with one line each. See: ScoringEngine."""
        image, scale = _bounded(pixels)
        scaled = [_scaled(quad, 1 / scale) for quad in quads]
        return tuple(
            self._recogniser.score(cut_crop(image, quad), letters, check) for quad in scaled
        )

    def _recognised(
        self, image: Image.Image, quads: Sequence[Quad], check: CancelCheck
    ) -> list[RecognisedText]:
        widths = [crop_width(quad) for quad in quads]
        return self._recogniser.read(widths, lambda index: cut_crop(image, quads[index]), check)


def _readable(reading: RecognisedText) -> RecognisedText:
    return reading if reading.probability >= _LEAST_PROBABILITY else NOTHING


def _contrasted(image: Image.Image) -> Image.Image:
    """Increase the contrast of a pale page; return other pages unchanged.

    The networks miss text whose contrast is below a tenth of the full range.
    """
    # Half the size has less camera noise, but still all strokes.
    grey = np.asarray(image.convert("L").reduce(2))
    darkest = int(grey.min())
    levels = int(grey.max()) - darkest
    if not 0 < levels < _PALE:
        return image
    stretched = [round((level - darkest) * 255 / levels) for level in range(256)]
    return image.point([min(max(0, level), 255) for level in stretched] * 3)


def _bounded(pixels: Pixels) -> tuple[Image.Image, float]:
    """Scale a page down to at most MOST_PIXELS; return the image and the scale."""
    image = _contrasted(Image.fromarray(np.ascontiguousarray(pixels)))
    area = image.width * image.height
    if area <= MOST_PIXELS:
        return image, 1.0
    scale = (area / MOST_PIXELS) ** 0.5
    size = max(1, int(image.width / scale)), max(1, int(image.height / scale))
    return image.resize(size, Image.Resampling.BOX), scale


def _scaled(quad: Quad, scale: float) -> Quad:
    first, second, third, fourth = ((x * scale, y * scale) for x, y in quad)
    return first, second, third, fourth


def _line(
    quad: Quad,
    reading: RecognisedText,
    scale: float,
    image: Image.Image,
    course: Course | None = None,
) -> TextLine:
    """Make a text line, in coordinates of the page, from a text recognised in a crop."""
    top_left, top_right, _, bottom_left = quad
    box = around_points(_inside(point, image, scale) for point in quad)
    tilt = abs(top_right[1] - top_left[1])
    height = bottom_left[1] - top_left[1]
    is_upright = top_right[0] > top_left[0] and tilt <= max(0.5, _UPRIGHT * height)
    return TextLine(
        reading.text,
        reading.probability,
        box,
        None if is_upright else _scaled(quad, scale),
        reading.places,
        course and course.scaled(scale),
    )


def _inside(point: Point, image: Image.Image, scale: float) -> Point:
    """Clip a point to the image, then convert it to pixels of the page."""
    x, y = min(max(0.0, point[0]), image.width), min(max(0.0, point[1]), image.height)
    return x * scale, y * scale
