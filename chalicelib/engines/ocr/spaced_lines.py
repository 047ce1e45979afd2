"""The lines of a page with the spaces that the engine overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.engines.ocr.ink import find_ink
from chalicelib.engines.ocr.phrases import find_gaps, usual_space
from chalicelib.engines.ocr.spacing import with_spaces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from chalicelib.domain.documents.page import TextLine
    from chalicelib.engines.ocr.interface import Check

    Pixels = npt.NDArray[np.uint8]

_LINES_A_CHECK = 50


def spaced_lines(pixels: Pixels, lines: Sequence[TextLine], check: Check) -> tuple[TextLine, ...]:
    """Return lines with a space at each wide gap of their ink.

    Args:
        pixels: RGB, uint8, shape (height, width, 3).
        lines: as an engine read them; those without the places of their characters stay as is.
        check: called now and then.
    """
    inks = []
    for number, line in enumerate(lines):
        if number % _LINES_A_CHECK == 0:
            check()
        inks.append(find_ink(pixels, line) if line.places else None)
    gaps = [find_gaps(line, ink) if ink else [] for line, ink in zip(lines, inks, strict=True)]
    usual = usual_space(gaps)
    return tuple(
        with_spaces(line, ink, own, usual) if ink else line
        for line, ink, own in zip(lines, inks, gaps, strict=True)
    )
