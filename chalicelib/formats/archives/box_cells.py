"""Reads one box of annotations.csv. Contract section 5, Upload formats."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.picture_examples import find_label_fault
from chalicelib.formats.texts.json_limits import is_too_deep

MAX_CELL_CHARACTERS = 5_000
"""Longest cell; a label of 180 characters written as \\u escapes takes 2,160."""
MAX_SIDE = 1_000_000.0
"""Largest number of a box; no picture that is accepted has a side of 100,000 pixels."""
_FULL_TURN = 360
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
    name = checked_label(label)
    box = checked_sides(*(_read_number(value, side) for side in _SIDES))
    return RawBox(name, box)


def found_picture(found: int | str) -> int:
    """Return the index of a picture that was looked for.

    Raises:
        CellFault: there is none; says why.
    """
    if isinstance(found, str):
        raise CellFault(found)
    return found


def checked_label(written: str) -> str:
    """Return a label as it is stored, not cut.

    Raises:
        CellFault: it is empty, or holds what no label may.
    """
    label = normal_form(written)
    fault = find_label_fault(label)
    if fault:
        raise CellFault(fault)
    return label


def checked_sides(x: float, y: float, width: float, height: float) -> Box:
    """Return a box of finite numbers with a size above 0.

    Raises:
        CellFault: it is none.
    """
    for name, side in zip(_SIDES, (x, y, width, height), strict=True):
        if not -MAX_SIDE <= side <= MAX_SIDE:
            raise CellFault(
                f'"{name}" is {_shown(side)}; at most {MAX_SIDE:,.0f} is allowed. Write it in '
                "pixels."
            )
    if width <= 0 or height <= 0:
        raise CellFault(
            f"the box is {width:g} × {height:g} pixels; width and height must be above 0."
        )
    return Box(float(x), float(y), float(width), float(height))


def _shown(side: float) -> str:
    """Write a number of any size; an integer may have thousands of digits."""
    return f"{side:g}" if isinstance(side, float) else "an integer of many digits"


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
    return number


def turned_box(box: Box, written: Any) -> Box:
    """Return the bounds of a box that is turned around its middle, as CVAT draws and writes it.

    Args:
        box: before it is turned.
        written: how far, in degrees; what is no angle turns nothing.
    """
    try:
        degrees = float(written)
    except (TypeError, ValueError, OverflowError):
        return box
    if not 0 < abs(degrees) <= _FULL_TURN:
        return box
    cosine, sine = (abs(one(math.radians(degrees))) for one in (math.cos, math.sin))
    width = box.width * cosine + box.height * sine
    height = box.width * sine + box.height * cosine
    left, top = box.x + (box.width - width) / 2, box.y + (box.height - height) / 2
    return Box(*(round(side, 6) for side in (left, top, width, height)))


def share_inside(box: Box, width: int, height: int) -> float:
    """Return which part of a box's area lies inside a picture, 0 to 1.

    Args:
        box: in pixels of the picture, origin at the top left; with a size above 0.
        width: of the picture, in pixels.
        height: of the picture, in pixels.
    """
    left, top, right, bottom = box.corners
    across = max(0.0, min(right, width) - max(left, 0.0))
    down = max(0.0, min(bottom, height) - max(top, 0.0))
    return across * down / (box.width * box.height)


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
