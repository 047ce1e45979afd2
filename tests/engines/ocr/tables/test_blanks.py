"""Characters missed by detection are read in their cells."""

from __future__ import annotations

from functools import cache

import pytest

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.interface import TextEngine
from chalicelib.engines.ocr.ppocr.loading import load_ppocr
from chalicelib.engines.ocr.tables.blanks import read_blanks
from chalicelib.engines.ocr.tables.filling import fill
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, TableGrid
from tests.engines.ocr.tables.drawn import MODELS, Reader, Sheet


@cache
def engine() -> TextEngine:
    """Load the installed engine once."""
    return load_ppocr(MODELS / "ppocr")


def sheet_with(missed: str) -> tuple[Sheet, FilledGrid]:
    """Draw three rows of two cells, one of which the engine missed."""
    sheet = Sheet(400, 200)
    for row in range(3):
        sheet.write(30, 20 + 40 * row, f"Row {row}")
        text = missed if row == 1 else "125"
        sheet.write(200, 20 + 40 * row, text, is_noted=row != 1)
    slots = tuple(
        Slot(row, column, Rect(20 + 150 * column, 14 + 40 * row, 160 + 150 * column, 50 + 40 * row))
        for row in range(3)
        for column in range(2)
    )
    return sheet, fill(TableGrid(Rect(20, 14, 310, 130), slots), sheet.lines)


@pytest.mark.parametrize("missed", ["7", "48"])
def test_a_lone_character_is_read(missed: str) -> None:
    """A missed single character becomes its cell's text, with a box around its ink."""
    sheet, filled = sheet_with(missed)
    pixels = sheet.page().pixels
    assert pixels is not None
    complete = read_blanks(filled, pixels, 20, engine(), lambda: None)
    (line,) = complete.texts[3]
    assert line.text == missed
    assert 195 < line.box.min_x < line.box.max_x < 240
    assert complete.filled == 6


@pytest.mark.parametrize("missed", ["", "."])
def test_nothing_and_specks_are_not_read(missed: str) -> None:
    """An empty cell, or one with specks, is not read again."""
    sheet, filled = sheet_with(missed)
    pixels = sheet.page().pixels
    assert pixels is not None
    reader = Reader()
    assert read_blanks(filled, pixels, 40, reader, lambda: None) == filled
    assert reader.asked == 0
