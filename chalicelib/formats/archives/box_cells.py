"""Reads one box of annotations.csv. Contract section 5, Upload formats."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.picture_examples import find_label_fault
from chalicelib.formats.texts.json_limits import is_too_deep

MAX_CELL_CHARACTERS = 5_000
"""Longest cell; a label of 180 characters written as \\u escapes takes 2,160."""
MAX_SIDE = 1_000_000.0
"""Largest number of a box; no picture that is accepted has a side of 100,000 pixels."""
_SIDES = ("x", "y", "width", "height")
_REMEDY = 'Write {"label": "…", "x": 0, "y": 0, "width": 1, "height": 1}.'


class CellFault(ValueError):
    """The cell is no box; the text says why and what to do."""


class RawBox(NamedTuple):
    """A box as it is written, before the picture is known."""

    label: str
    """Trimmed, not cut."""
    box: Box
    """In pixels, origin at the top left; finite, with a size above 0."""


def parse_cell(cell: str) -> RawBox:
    """Read a box.

    Args:
        cell: the text of the cell.

    Returns:
        Label and box.

    Raises:
        CellFault: it is no box.
    """
    if len(cell) > MAX_CELL_CHARACTERS:
        raise CellFault(
            f"the cell has {len(cell):,} characters, the limit is {MAX_CELL_CHARACTERS:,}."
        )
    value = _read_object(cell)
    label = value.get("label")
    if not isinstance(label, str):
        raise CellFault(f'"label" is missing or no text. {_REMEDY}')
    label = normal_form(label)
    fault = find_label_fault(label)
    if fault:
        raise CellFault(fault)
    box = Box(*(_read_number(value, side) for side in _SIDES))
    if box.width <= 0 or box.height <= 0:
        raise CellFault(
            f"the box is {box.width:g} × {box.height:g} pixels; width and height must be above 0."
        )
    return RawBox(label, box)


def _read_object(cell: str) -> dict[str, object]:
    """Read the object that a cell is."""
    if is_too_deep(cell):
        raise CellFault(f"the cell is nested too deeply. {_REMEDY}")
    try:
        value = json.loads(cell)
    except ValueError:
        raise CellFault(f"the cell is no JSON. {_REMEDY}") from None
    if not isinstance(value, dict):
        raise CellFault(f"the cell is JSON, but no object. {_REMEDY}")
    return value


def _read_number(value: dict[str, object], side: str) -> float:
    """Read one number of a box, also one in quotes."""
    written = value.get(side)
    if written is None:
        raise CellFault(f'"{side}" is missing. {_REMEDY}')
    try:
        if isinstance(written, bool) or not isinstance(written, int | float | str):
            raise CellFault(f'"{side}" is no number. {_REMEDY}')
        number = float(written)
    except OverflowError:
        number = math.inf
    except ValueError as fault:
        if isinstance(fault, CellFault):
            raise
        raise CellFault(f'"{side}" is no number. {_REMEDY}') from None
    if not math.isfinite(number):
        raise CellFault(f'"{side}" is no finite number; write a distance in pixels.')
    if abs(number) > MAX_SIDE:
        raise CellFault(
            f'"{side}" is {number:g}; at most {MAX_SIDE:,.0f} is allowed. Write it in pixels.'
        )
    return number


def clip_box(box: Box, width: int, height: int) -> Box:
    """Cut off what lies outside of the picture.

    Args:
        box: in pixels of the displayed picture, origin at the top left.
        width: of the displayed picture, in pixels.
        height: of the displayed picture, in pixels.

    Returns:
        The same box when it lies inside, else the part of it that does.

    Raises:
        CellFault: its centre lies outside.
    """
    left, top, right, bottom = box.corners
    if left >= 0 and top >= 0 and right <= width and bottom <= height:
        if right > left and bottom > top:
            return box
    elif 0 <= (left + right) / 2 < width and 0 <= (top + bottom) / 2 < height:
        left, top = max(0.0, left), max(0.0, top)
        right, bottom = min(float(width), right), min(float(height), bottom)
        if right > left and bottom > top:
            return Box(left, top, right - left, bottom - top)
    raise CellFault(
        f"the box x {box.x:g}, y {box.y:g}, width {box.width:g}, height {box.height:g} has its "
        f"centre outside of the picture of {width:,} × {height:,} pixels; correct the numbers, "
        "which are pixels from the top left corner of the picture as displayed."
    )
