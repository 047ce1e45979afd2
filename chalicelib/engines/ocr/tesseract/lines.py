"""Combines words into lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from chalicelib.domain.documents.page import Quad, Rect, TextLine

if TYPE_CHECKING:
    from chalicelib.engines.ocr.tesseract.caller import Word

# A wider gap ends a line, as a fraction of the words' median height.
_GAP = 1.5


def runs_of(words: Iterable[Word]) -> list[list[Word]]:
    """Group words by line, and split each line at gaps that are wide enough to separate columns.

    Args:
        words: words of an image; the words of one line must follow one another.
    """
    runs: list[list[Word]] = []
    for _, members in groupby(words, key=lambda word: word.line):
        line = sorted(members, key=lambda word: word.box.min_x)
        reach = _GAP * median(word.box.height for word in line)
        run = [line[0]]
        for word in line[1:]:
            if word.box.min_x - run[-1].box.max_x > reach:
                runs.append(run)
                run = []
            run.append(word)
        runs.append(run)
    return runs


def line_of(
    words: Sequence[Word], span: tuple[float, float], box: Rect, quad: Quad | None = None
) -> TextLine:
    """Combine words into a line.

    Args:
        words: words from left to right, at least one.
        span: x of the beginning and of the end of the line, in the pixels of the words' boxes.
        box: box of the line on the page, in pixels.
        quad: corners of the line on the page, if it is not upright.
    """
    count = sum(len(word.text) for word in words)
    probability = sum(word.probability * len(word.text) for word in words) / count
    text = " ".join(word.text for word in words)
    return TextLine(text, probability, box, quad, _places(words, span))


def _places(words: Sequence[Word], span: tuple[float, float]) -> tuple[float, ...]:
    """Return the middle of each character along the line: evenly spaced within a word."""
    start, end = span
    length = max(end - start, 1.0)
    middles: list[float] = []
    behind = start
    for word in words:
        if middles:
            middles.append((behind + word.box.min_x) / 2)
        step = word.box.width / len(word.text)
        middles += [word.box.min_x + step * (index + 0.5) for index in range(len(word.text))]
        behind = word.box.max_x
    return tuple(min(1.0, max(0.0, (middle - start) / length)) for middle in middles)
