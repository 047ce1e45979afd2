"""Parses and checks boxes of annotation files. See contract section 5, Upload formats."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.picture_examples import find_label_fault
from chalicelib.formats.texts.json_limits import is_too_deep

# Length limit of a cell; a label of 180 characters written as \u escapes takes 2,160.
MAX_CELL_CHARACTERS = 5_000
# Largest number in a box; no accepted image has a side of 100,000 pixels.
MAX_SIDE = 1_000_000.0
_FULL_TURN = 360
_SIDES = ("x", "y", "width", "height")
_REMEDY = 'Write {"label": "…", "x": 0, "y": 0, "width": 1, "height": 1}.'


class CellFault(ValueError):
    """The text of a cell is not a valid box. The message says why and what to do."""


class RawBox(NamedTuple):
    """A box as written in a cell, before the size of the image is known."""

    label: str
    """Trimmed label in full length."""
    box: Box
    """Box in pixels from the top left corner. All numbers are finite, and the size is above 0."""


def parse_cell(cell: str) -> RawBox:
    """Parse a cell of annotations.csv; raise CellFault if it does not contain a valid box."""
    if len(cell) > MAX_CELL_CHARACTERS:
        raise CellFault(
            f"the cell has {len(cell):,} characters, the limit is {MAX_CELL_CHARACTERS:,}."
        )
    value = _read_object(cell)
    label = value.get("label")
    if not isinstance(label, str):
        raise CellFault(f'"label" is missing or is not a text. {_REMEDY}')
    name = checked_label(label)
    box = checked_sides(*(_read_number(value, side) for side in _SIDES))
    return RawBox(name, box)


def found_image(result: int | str) -> int:
    """Return the image index in `result`; raise CellFault if `result` is an error text.

    Args:
        result: Result of a search: the index of the image, or the reason why it was not found.

    Raises:
        CellFault: the image was not found; the message is the reason.
    """
    if isinstance(result, str):
        raise CellFault(result)
    return result


def checked_label(text: str) -> str:
    """Check a label; return it in Unicode form NFC, without spaces at its ends.

    Raises:
        CellFault: the label is empty, or contains characters that are not allowed.
    """
    label = normal_form(text)
    fault = find_label_fault(label)
    if fault:
        raise CellFault(fault)
    return label


def checked_sides(x: float, y: float, width: float, height: float) -> Box:
    """Check the numbers of a box, and return the box.

    Raises:
        CellFault: a number is beyond ±MAX_SIDE, or `width` or `height` is not above 0.
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
    # An integer can have thousands of digits.
    return f"{side:g}" if isinstance(side, float) else "an integer of many digits"


def _read_object(cell: str) -> dict[str, object]:
    if is_too_deep(cell):
        raise CellFault(f"the cell is nested too deeply. {_REMEDY}")
    try:
        value = json.loads(cell)
    except ValueError:
        raise CellFault(f"the cell is not JSON. {_REMEDY}") from None
    if not isinstance(value, dict):
        raise CellFault(
            f"the cell is JSON, but not an object. {_REMEDY} If the columns hold corners, begin "
            "the file with a row of their names: filename, class, xmin, ymin, xmax, ymax."
        )
    return value


def _read_number(value: dict[str, object], side: str) -> float:
    # A number in quotes is accepted, because its value is clear.
    written = value.get(side)
    if written is None:
        raise CellFault(f'"{side}" is missing. {_REMEDY}')
    try:
        if isinstance(written, bool) or not isinstance(written, int | float | str):
            raise CellFault(f'"{side}" is not a number. {_REMEDY}')
        number = float(written)
    except OverflowError:
        number = math.inf
    except ValueError as fault:
        if isinstance(fault, CellFault):
            raise
        raise CellFault(f'"{side}" is not a number. {_REMEDY}') from None
    if not math.isfinite(number):
        raise CellFault(f'"{side}" is not a finite number; write a distance in pixels.')
    return number


def turned_box(box: Box, angle: Any) -> Box:
    """Rotate `box` around its centre; return the smallest upright box around the rotated box.

    `angle` is in degrees, as written by CVAT. It is ignored unless it is from -360 to 360.
    """
    try:
        degrees = float(angle)
    except (TypeError, ValueError, OverflowError):
        return box
    if not 0 < abs(degrees) <= _FULL_TURN:
        return box
    cosine, sine = (abs(one(math.radians(degrees))) for one in (math.cos, math.sin))
    width = box.width * cosine + box.height * sine
    height = box.width * sine + box.height * cosine
    left, top = box.x + (box.width - width) / 2, box.y + (box.height - height) / 2
    return Box(*(round(side, 6) for side in (left, top, width, height)))


def fraction_inside(box: Box, width: int, height: int) -> float:
    """Return the fraction of a box's area that is inside the image, 0 to 1.

    Args:
        box: Box in pixels from the top left corner of the image; width and height are above 0.
        width: Width of the image in pixels.
        height: Height of the image in pixels.
    """
    left, top, right, bottom = box.corners
    across = max(0.0, min(right, width) - max(left, 0.0))
    down = max(0.0, min(bottom, height) - max(top, 0.0))
    return across * down / (box.width * box.height)


def clip_box(box: Box, width: int, height: int) -> Box:
    """Return the part of a box that is inside the image.

    Args:
        box: Box in pixels from the top left corner of the displayed image.
        width: Width of the displayed image in pixels.
        height: Height of the displayed image in pixels.

    Raises:
        CellFault: the centre of the box is outside the image.
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
        f"centre outside of the image of {width:,} × {height:,} pixels; correct the numbers, "
        "which are pixels from the top left corner of the image as displayed."
    )
