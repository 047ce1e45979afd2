"""Splits the lines of a page into runs of words, at gaps in their ink."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from chalicelib.engines.ocr.gaps import LineSplit, divide, divide_exact, read_unclear
from chalicelib.engines.ocr.ink import Ink, find_ink
from chalicelib.engines.ocr.phrases import WIDER, find_gaps, phrase_ranges, usual_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.domain.documents.page import ReadPage, TextLine
    from chalicelib.engines.ocr.interface import CancelCheck, TextEngine

# Minimum gap between two items of task text, in heights of the line.
TEXT_GAP = 0.45
_LINES_A_CHECK = 50


def text_runs(page: ReadPage, engine: TextEngine, check: CancelCheck) -> tuple[TextLine, ...]:
    """Split the lines of a page into runs of words, the items of the task `text`.

    Args:
        page: page as read. Without pixels, only the positions of characters determine the gaps.
        engine: engine that reads a part again if it is unclear which characters belong to it.
        check: called regularly; may raise an error to stop.

    Returns:
        The runs in reading order, each with text. The words of one phrase are in one run.
    """
    if page.is_exact or page.pixels is None:
        parts = (divide_exact(line, TEXT_GAP, WIDER) for line in page.lines)
        return tuple(chain.from_iterable(parts))
    divisions = _divided(page.pixels, page.lines, check)
    return read_unclear(page.pixels, divisions, engine, check)


def _divided(pixels: Pixels, lines: Sequence[TextLine], check: CancelCheck) -> list[LineSplit]:
    """Split lines at gaps in their ink; a line without ink is not changed."""
    inks = []
    for number, line in enumerate(lines):
        if number % _LINES_A_CHECK == 0:
            check()
        inks.append(find_ink(pixels, line))
    inked = [(line, ink) for line, ink in zip(lines, inks, strict=True) if ink]
    usual = usual_space(find_gaps(line, ink) for line, ink in inked)
    return [
        LineSplit((line,)) if ink is None else _divided_line(line, ink, usual)
        for line, ink in zip(lines, inks, strict=True)
    ]


def _divided_line(line: TextLine, ink: Ink, space: float) -> LineSplit:
    return divide(line, ink, phrase_ranges(ink, find_gaps(line, ink), TEXT_GAP, space))
