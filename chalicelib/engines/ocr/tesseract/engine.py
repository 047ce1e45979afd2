"""The Tesseract text engine. Implements chalicelib/engines/ocr/interface.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from chalicelib.domain.documents.page import Quad, TextLine, around
from chalicelib.engines.ocr.interface import TESSERACT, CancelCheck, OcrNotInstalled
from chalicelib.engines.ocr.order import in_reading_order
from chalicelib.engines.ocr.tesseract.caller import BLOCK, PAGE, Caller, Word
from chalicelib.engines.ocr.tesseract.lines import line_of, runs_of
from chalicelib.engines.ocr.tesseract.preparing import evenly_lit, has_ink, prepare
from chalicelib.engines.ocr.tesseract.program import Executable, find_program
from chalicelib.engines.ocr.tesseract.strips import SHEET, Sheet
from chalicelib.engines.ocr.turning import turned_lines, turned_pixels

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# Words with a lower probability are dropped.
_LEAST_PROBABILITY = 0.3
# Minimum size of a character, in pixels.
_LEAST_SIDE = 3
# Clockwise quarter turns that are tried if the text of a page is not plausible.
_OTHER_TURNS = (1, 3, 2)
# Minimum mean probability of an upright page.
_PLAUSIBLE = 0.6
# Another direction must have this many times more probable characters.
_CLEARLY = 2.0
# Minimum number of probable characters in another direction.
_LEAST_SCORE = 5.0


class Tesseract:
    """Runs the program for each page; safe to share between threads."""

    name = TESSERACT

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def in_alphabet(self, alphabet: str) -> Tesseract:
        """Return an engine that outputs letters of another alphabet. See: TextEngine."""
        return Tesseract(self._caller.in_alphabet(alphabet))

    def read(self, pixels: Pixels, check: CancelCheck) -> tuple[TextLine, ...]:
        """Detect and recognise all text lines of a page, in reading order. See: TextEngine.

        The program reads only upright text. If the result is not plausible, the page is read in the
        other three directions too.

        Raises:
            OcrNotInstalled: the program cannot be started.
            TesseractFailed: the program returned no answer.
            TimedOut: the program took too long.
        """
        check()
        if min(pixels.shape[:2]) < _LEAST_SIDE:
            return ()
        best = self._upright(pixels, check)
        if best.is_uncertain:
            least = max(_LEAST_SCORE, _CLEARLY * best.text_score)
            for turns in _OTHER_TURNS:
                other = self._turned(pixels, turns, check)
                if other.text_score >= least and other.text_score > best.text_score:
                    best = other
        return tuple(in_reading_order(best.lines))

    def read_crops(
        self, pixels: Pixels, quads: Sequence[Quad], check: CancelCheck
    ) -> tuple[TextLine | None, ...]:
        """Recognise areas that contain one line each. See: TextEngine.

        Raises:
            OcrNotInstalled: the program cannot be started.
            TesseractFailed: the program returned no answer.
            TimedOut: the program took too long.
        """
        check()
        if min(pixels.shape[:2]) < _LEAST_SIDE:
            return (None,) * len(quads)
        image = evenly_lit(Image.fromarray(np.ascontiguousarray(pixels)).convert("L"))
        lines: list[TextLine | None] = []
        for start in range(0, len(quads), SHEET):
            sheet = Sheet(image, quads[start : start + SHEET])
            words = self._caller.words(sheet.image, BLOCK, check)
            lines += sheet.lines(_probable(words))
        return tuple(lines)

    def _upright(self, pixels: Pixels, check: CancelCheck) -> _Reading:
        """Read a page without rotation."""
        prepared = prepare(pixels)
        if not has_ink(prepared.image):
            return _Reading([], [], has_ink=False)
        words = self._caller.words(prepared.image, PAGE, check)
        height, width = pixels.shape[:2]
        lines = []
        for run in runs_of(_probable(words)):
            box = around(word.box for word in run)
            place = prepared.on_page(box, width, height)
            lines.append(line_of(run, (box.min_x, box.max_x), place))
        return _Reading(words, lines)

    def _turned(self, pixels: Pixels, turns: int, check: CancelCheck) -> _Reading:
        """Read a page rotated by clockwise quarter turns; return lines on the original page."""
        turned = turned_pixels(pixels, turns)
        reading = self._upright(turned, check)
        height, width = turned.shape[:2]
        lines = turned_lines(reading.lines, 4 - turns, width, height)
        return _Reading(reading.words, list(lines))


class _Reading:
    """The result of reading a page in one direction."""

    def __init__(self, words: list[Word], lines: list[TextLine], *, has_ink: bool = True) -> None:
        self.words = words
        self.lines = lines
        self._has_ink = has_ink

    @property
    def is_uncertain(self) -> bool:
        """Whether the page has ink, but its words are not plausible in this direction."""
        count = sum(len(word.text) for word in self.words)
        expected = sum(word.probability * len(word.text) for word in self.words)
        return self._has_ink and expected <= _PLAUSIBLE * count

    @property
    def text_score(self) -> float:
        """Plausibility of the text: sum of length times probability over its probable words."""
        return sum(
            len(word.text) * word.probability
            for word in self.words
            if word.probability >= _PLAUSIBLE and len(word.text) > 2
        )


def _probable(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.probability >= _LEAST_PROBABILITY]


def load_tesseract() -> Tesseract:
    """Create the engine, which starts the program for each page.

    Raises:
        OcrNotInstalled: the program or its language data is missing.
    """
    program = find_program()
    if program is None:
        raise OcrNotInstalled(TESSERACT)
    try:
        return Tesseract(Caller(Executable(program)))
    except (OSError, ImportError) as error:
        raise OcrNotInstalled(TESSERACT) from error
