"""The PDF process, with its code run in the test's process."""

from __future__ import annotations

import io
import json
import struct

import pypdfium2_raw
import pytest

from chalicelib.formats.pdf.child import serve
from tests.pdfs import Sheet, image_sheet, pdf, text_sheet

LINES = ["The quick brown fox jumps over", "the lazy dog"]


def frame(body):
    """Pack a frame."""
    return struct.pack(">I", len(body)) + body


def talk(data, *requests):
    """Return the frames that answer a conversation."""
    source = io.BytesIO(frame(data) + b"".join(frame(json.dumps(r).encode()) for r in requests))
    target = io.BytesIO()
    serve(pypdfium2_raw, source, target)
    target.seek(0)
    frames = []
    while head := target.read(4):
        frames.append(target.read(struct.unpack(">I", head)[0]))
    assert frames.pop(0) == b"ready"
    return frames


def test_conversation():
    """A document, two pages and the end are answered in order."""
    sheets = [text_sheet(LINES), Sheet(b"1 0 0 rg 0 0 100 100 re f", media=(0, 0, 36, 72))]
    opening, first, second, raster = talk(
        pdf(sheets), {"page": 0, "pixels": False}, {"page": 1, "pixels": False}
    )
    assert json.loads(opening) == {"pages": 2}
    facts = json.loads(first)
    assert [line[0] for line in facts["lines"]] == LINES
    assert "drawn" not in facts
    assert json.loads(second) == {"width": 36, "height": 72, "lines": None, "drawn": True}
    assert raster == bytes((255, 0, 0)) * 100 * 200


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"nonsense"])
def test_documents_that_are_none(data):
    """After a file that cannot be opened the conversation continues."""
    (opening,) = talk(data)
    assert json.loads(opening) == {"error": "format"}


def test_pages_that_are_none():
    """A missing page is an error of that page."""
    _, answer, again = talk(
        pdf([text_sheet(LINES)]), {"page": 7, "pixels": True}, {"page": 0, "pixels": False}
    )
    assert json.loads(answer) == {"error": "page"}
    assert json.loads(again)["lines"]


def test_images_that_are_missing():
    """A page that refers to a missing image is drawn without it."""
    _, facts, raster = talk(pdf([image_sheet(99, 100, 100)]), {"page": 0, "pixels": True})
    assert json.loads(facts)["drawn"]
    assert set(raster) == {255}
