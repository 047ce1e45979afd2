"""Tests of chalicelib/engines/ocr/forms/segments.py."""

from __future__ import annotations

import math

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.forms.segments import make_segments, tilt
from tests.engines.ocr.forms.drawn import DrawnForm


def test_line_across_columns_is_divided() -> None:
    """A blank wider than between words divides a line where its characters are placed so."""
    places = (0.02, 0.06, 0.1, 0.14, 0.18, 0.86, 0.9, 0.94, 0.98)
    line = TextLine("Name Date", 0.9, Rect(0, 0, 500, 20), None, (*places,))

    left, right = make_segments([line], 0.0)

    assert [left.text, right.text] == ["Name", "Date"]
    assert left.rect.max_x < 100
    assert right.rect.min_x > 400


def test_words_of_one_text_stay_together() -> None:
    """Ordinary blanks divide nothing."""
    form = DrawnForm()
    form.write(100, 100, "Name and title of the person")

    assert len(make_segments(form.lines, 0.0)) == 1


@pytest.mark.parametrize("degrees", [-4.0, 0.0, 3.0])
def test_tilted_page_is_levelled(degrees: float) -> None:
    """The tilt is told from the lines; levelled, equal heights are equal again."""
    form = DrawnForm()
    form.write(100, 100, "Name and title of the person")
    form.write(800, 100, "Date of the application")
    lines = form.read(degrees).lines

    angle = tilt(lines)
    first, second = make_segments(lines, angle)

    assert math.degrees(angle) == pytest.approx(degrees, abs=0.01)
    assert first.rect.center[1] == pytest.approx(second.rect.center[1], abs=3)
    assert first.box == lines[0].box
