"""Tests of chalicelib/engines/ocr/forms/segments.py."""

from __future__ import annotations

import math

import pytest

from chalicelib.engines.ocr.forms.segments import make_segments, tilt
from tests.engines.ocr.forms.drawn import DrawnForm


@pytest.mark.parametrize("degrees", [-4.0, 0.0, 3.0])
def test_tilted_page_is_levelled(degrees: float) -> None:
    """The tilt is estimated from the lines; after levelling, equal heights are equal."""
    form = DrawnForm()
    form.write(100, 100, "Name and title of the person")
    form.write(800, 100, "Date of the application")
    lines = form.read(degrees).lines

    angle = tilt(lines)
    first, second = make_segments(lines, angle)

    assert math.degrees(angle) == pytest.approx(degrees, abs=0.01)
    assert first.rect.center[1] == pytest.approx(second.rect.center[1], abs=3)
    assert first.box == lines[0].box
