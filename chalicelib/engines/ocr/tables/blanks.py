"""Reads table cells that contain ink but no text. Text detectors often miss single characters.

Coordinates are pixels of the raster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.domain.documents.page import Quad, Rect, TextLine, around
from chalicelib.engines.ocr.ink import find_ink
from chalicelib.engines.ocr.interface import CancelCheck, TextEngine
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels


def read_blanks(
    filled: FilledGrid, pixels: Pixels, text_height: float, engine: TextEngine, check: CancelCheck
) -> FilledGrid:
    """Read the cells of a table that contain ink but no text.

    The pixels are RGB, uint8, shape (height, width, 3), with ruled lines erased; `text_height` is
    the usual height of a line in pixels. The engine calls `check`, which may raise an error.
    """
    rows, columns = _extents(filled, is_row=True), _extents(filled, is_row=False)
    taken = [line.box for line in filled.lines()]
    found: dict[int, tuple[Rect, Quad]] = {}
    for number, (slot, lines) in enumerate(filled.cells()):
        if lines or len(found) >= settings.MOST_BLANKS:
            continue
        area = _area(slot, rows, columns, text_height)
        ink = _ink_box(pixels, area, text_height) if area else None
        if area and ink and not any(ink.overlap(box) for box in taken):
            found[number] = ink, _quad(ink, area, text_height)
    if not found:
        return filled
    read = engine.read_crops(pixels, [quad for _, quad in found.values()], check)
    texts = list(filled.texts)
    for (number, (box, _)), line in zip(found.items(), read, strict=True):
        if line is not None and line.probability >= settings.SURE_BLANK:
            texts[number] = (replace(line, box=box, quad=None),)
    return replace(filled, texts=tuple(texts))


def _extents(filled: FilledGrid, *, is_row: bool) -> dict[int, Rect]:
    """Return the box around the text of each row, or of each column."""
    boxes: dict[int, list[Rect]] = {}
    for slot, lines in filled.cells():
        lanes = slot.rows if is_row else slot.columns
        if len(lanes) == 1 and lines:
            boxes.setdefault(lanes.start, []).extend(line.box for line in lines)
    return {lane: around(own) for lane, own in boxes.items()}


def _area(
    slot: Slot, rows: dict[int, Rect], columns: dict[int, Rect], text_height: float
) -> Rect | None:
    """Return where a cell without text may contain text; None if its row or column is empty."""
    tall = [rows[row] for row in slot.rows if row in rows]
    wide = [columns[column] for column in slot.columns if column in columns]
    if not tall or not wide:
        return None
    row, column, slack = around(tall), around(wide), 0.3 * text_height
    left = [box.max_x for box in columns.values() if box.max_x < column.min_x]
    right = [box.min_x for box in columns.values() if box.min_x > column.max_x]
    left_end, right_end = max([column.min_x - slack, *left]), min([column.max_x + slack, *right])
    return Rect(left_end, row.min_y, right_end, row.max_y)


def _ink_box(pixels: Pixels, area: Rect, text_height: float) -> Rect | None:
    """Return the rectangle around the ink in an area; None if there is too little to read."""
    ink = find_ink(pixels, TextLine("?", 1.0, area))
    if ink is None:
        return None
    box = Rect(
        area.min_x + ink.spans[0][0] * area.width,
        area.min_y + ink.top * area.height,
        area.min_x + ink.spans[-1][1] * area.width,
        area.min_y + ink.bottom * area.height,
    )
    least = max(2.0, settings.SPECK_EMS * text_height)
    is_text = box.height <= settings.TALL_INK_EMS * text_height
    return box if is_text and max(box.width, box.height) >= least else None


def _quad(ink: Rect, area: Rect, text_height: float) -> Quad:
    """Return the corners of the area to read: as wide as the ink, as high as a line of text."""
    margin = settings.INK_MARGIN_EMS * text_height
    middle = ink.center[1]
    half = max(0.5 * text_height, 0.6 * ink.height)
    top, bottom = middle - half, middle + half
    if area.height <= settings.TALL_INK_EMS * text_height:
        top, bottom = min(ink.min_y, area.min_y) - 1, max(ink.max_y, area.max_y) + 1
    left, right = ink.min_x - margin, ink.max_x + margin
    return ((left, top), (right, top), (right, bottom), (left, bottom))
