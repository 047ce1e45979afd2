"""Answers of the PDF process are validated like untrusted input."""

from __future__ import annotations

import json

import pytest

from chalicelib.domain.documents.page import Rect
from chalicelib.formats.pdf.document import Opening, PageFacts, read_answer, read_lines
from chalicelib.formats.pdf.frames import ProcessFailed
from chalicelib.formats.pdf.geometry import Raster

RASTER = Raster(100, 50, 1.0)
LINE = ["two words", [10, 10, 60, 20], None, [number / 8 for number in range(9)]]


def lines_of(*lines):
    """Parse lines in the form that the process sends."""
    body = json.dumps({"width": 100, "height": 50, "lines": lines}).encode()
    return read_lines(read_answer(body, PageFacts).lines, RASTER)


def test_lines():
    """A valid line is passed on unchanged."""
    (line,) = lines_of(LINE)
    assert (line.text, line.probability, line.quad) == ("two words", 1.0, None)
    assert line.box == Rect(10, 10, 60, 20)
    assert len(line.places) == 9


def test_boxes_are_cut_to_the_page():
    """Boxes are clipped to the page."""
    (line,) = lines_of([LINE[0], [-5, -5, 500, 500], None, LINE[3]])
    assert line.box == Rect(0, 0, 100, 50)


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, ""),
        (0, "         "),
        (0, "two\nwords"),
        (0, "two\x00words"),
        (0, "short"),
        (0, None),
        (1, [1, 2, 3]),
        (1, ["a", 2, 3, 4]),
        (2, [[1, 2], [3, 4]]),
        (2, "corners"),
        (3, []),
        (3, [2.0] * 9),
        (3, [-1.0] * 9),
    ],
)
def test_damaged_lines(position, value):
    """An invalid line is never passed on."""
    line = list(LINE)
    line[position] = value
    with pytest.raises(ProcessFailed):
        lines_of(line)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'{"width": NaN}', b'{"other": 1}', b'{"pages": "3"}']
)
def test_damaged_answers(body):
    """An invalid answer is an error of the process."""
    for kind in (Opening, PageFacts):
        with pytest.raises(ProcessFailed):
            read_answer(body, kind)


def test_numbers_beyond_all_measure():
    """Infinite numbers are rejected."""
    body = b'{"width": 9, "height": 9, "lines": [["abc", [0, 0, 1e999, 1], null, [0, 0, 0]]]}'
    with pytest.raises(ProcessFailed):
        read_lines(read_answer(body, PageFacts).lines, RASTER)
