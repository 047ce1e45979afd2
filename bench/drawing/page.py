"""Draws the sample page of OCR: an invented pay statement with letterhead, fields and a table.

The texts on the page are listed here, so that tests can compare them with the texts read by OCR.
Lengths are pixels at 150 dpi; the origin is the top left.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

# Path of the page below the assets folder.
PAGE = "samples/sample_page.png"
# Size of a page of A5.
WIDTH, HEIGHT = 874, 1240
_LEFT, _MIDDLE, _RIGHT = 60, 470, 814
_BODY, _TITLE, _NAME = 19, 27, 36
_INK, _RULE, _SHADE, _PAPER = 20, 60, 222, 255
_ROW = 42
# Left sides of the table's columns, and the right side of the last one.
_COLUMNS = (60, 374, 514, 654, 814)
_TABLE_TOP = 700


@dataclass(frozen=True, slots=True)
class Written:
    """A text on the page, with its position."""

    text: str
    left: int
    top: int
    size: int = _BODY


# The letterhead by tag.
CONTACTS: Mapping[str, str] = {
    "ORG": "Quillmoor Paper Mill LLC",
    "PERSON": "Ada Winslow",
    "TITLE": "Payroll Manager",
    "ADDRESS": "418 Larkspur Lane Bellhaven, OR 97214",
    "PHONE": "(503) 555-0142",
    "FAX": "(503) 555-0143",
    "EMAIL": "ada.winslow@quillmoor.example",
    "WEBSITE": "www.quillmoor.example",
}
FIELDS: Mapping[str, str] = {
    "Employee Name": "Jonas Fairbanks",
    "Employee ID": "20417",
    "Check Number": "10482",
    "Pay Date": "03/20/2026",
    "Pay Period": "03/01/2026 - 03/15/2026",
    "Net Pay": "$1,755.07",
}
_PARAGRAPH = (
    "This statement shows what you earned and what was withheld in the first",
    "half of March. Please keep it with your records. If a figure looks wrong to",
    "you, write to the payroll office within ten days; it will be put right with the",
    "next statement.",
)
# All texts outside the table.
LINES: tuple[Written, ...] = (
    Written("Quillmoor Paper Mill LLC", _LEFT, 56, _NAME),
    Written("Ada Winslow", _LEFT, 124),
    Written("Payroll Manager", _LEFT, 154),
    Written("418 Larkspur Lane", _LEFT, 184),
    Written("Bellhaven, OR 97214", _LEFT, 214),
    Written("Phone: (503) 555-0142", _MIDDLE, 124),
    Written("Fax: (503) 555-0143", _MIDDLE, 154),
    Written("Email: ada.winslow@quillmoor.example", _MIDDLE, 184),
    Written("Web: www.quillmoor.example", _MIDDLE, 214),
    Written("Statement of Earnings", _LEFT, 308, _TITLE),
    Written("Employee Name: Jonas Fairbanks", _LEFT, 372),
    Written("Employee ID: 20417", _LEFT, 408),
    Written("Check Number: 10482", _LEFT, 444),
    Written("Pay Date: 03/20/2026", _MIDDLE, 372),
    Written("Pay Period: 03/01/2026 - 03/15/2026", _MIDDLE, 408),
    Written("Net Pay: $1,755.07", _MIDDLE, 444),
    *(Written(text, _LEFT, 522 + 32 * place) for place, text in enumerate(_PARAGRAPH)),
    Written("Amounts are in U.S. dollars. No signature is needed.", _LEFT, 1096),
)
# Rows of the table. In a row with two cells, the first one covers three columns.
TABLE: tuple[tuple[str, ...], ...] = (
    ("Earnings", "Hours", "Rate", "Amount"),
    ("Regular pay", "72.00", "24.50", "1,764.00"),
    ("Overtime", "4.00", "36.75", "147.00"),
    ("Holiday pay", "8.00", "24.50", "196.00"),
    ("Gross amount", "2,107.00"),
    ("Federal income tax", "-221.30"),
    ("Social security", "-130.63"),
    ("Amount paid", "1,755.07"),
)


def draw_page() -> bytes:
    """Draw the page as a PNG in greyscale."""
    image = Image.new("L", (WIDTH, HEIGHT), _PAPER)
    pen = ImageDraw.Draw(image)
    for line in LINES:
        pen.text((line.left, line.top), line.text, _INK, ImageFont.load_default(line.size))
    pen.line([(_LEFT, 266), (_RIGHT, 266)], _RULE, 3)
    pen.line([(_LEFT, 1070), (_RIGHT, 1070)], _RULE, 1)
    bottom = _TABLE_TOP + _ROW * len(TABLE)
    pen.rectangle((_LEFT, _TABLE_TOP, _RIGHT, _TABLE_TOP + _ROW), _SHADE)
    pen.rectangle((_LEFT, _TABLE_TOP, _RIGHT, bottom), outline=_RULE, width=2)
    for number, row in enumerate(TABLE):
        _draw_row(pen, row, _TABLE_TOP + number * _ROW)
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True, dpi=(150, 150))
    return stream.getvalue()


def _draw_row(pen: ImageDraw.ImageDraw, row: Sequence[str], top: int) -> None:
    """Draw one row of the table: the line above the row, its borders and its texts."""
    font = ImageFont.load_default(_BODY)
    borders = _COLUMNS if len(row) == len(_COLUMNS) - 1 else (_COLUMNS[0], *_COLUMNS[-2:])
    pen.line([(_LEFT, top), (_RIGHT, top)], _RULE, 2)
    for number, text in enumerate(row):
        pen.line([(borders[number], top), (borders[number], top + _ROW)], _RULE, 2)
        if number:
            pen.text((borders[number + 1] - 14, top + 11), text, _INK, font, anchor="ra")
        else:
            pen.text((borders[0] + 14, top + 11), text, _INK, font)
