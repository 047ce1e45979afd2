"""Draws pages with boxes around the items that were found on these pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.documents.findings import Contact, FormField, Table
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine

GREY, BLUE, ORANGE, GREEN, PURPLE = "#8a9bb0", "#1f6fd6", "#d9730d", "#1a9850", "#8e44ad"
RED = "#d7191c"
NAME_SIZE = 11


@dataclass(frozen=True, slots=True)
class Mark:
    """A box to draw, with its colour and text."""

    box: Rect
    """Place of the box, in pixels of the rotated image."""
    colour: str
    """Colour of the outline."""
    name: str = ""
    """Text to the right of the box, or above its top left corner."""
    margin: float = 2
    """Distance between content and outline, in pixels."""
    is_above: bool = False
    """Whether the name is written above."""


class Plots:
    """Writes PNG files into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def page(self, name: str, page: ReadPage, marks: Iterable[Mark]) -> None:
        """Draw one page with its boxes. A page without pixels is skipped."""
        if page.pixels is not None:
            draw_marks(page, marks).save(self._folder / f"ocr-{name}.png")


def draw_marks(page: ReadPage, marks: Iterable[Mark]) -> Image.Image:
    """Draw boxes on a page that has pixels."""
    image = Image.fromarray(page.pixels)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(NAME_SIZE)
    for mark in marks:
        box, margin = mark.box, mark.margin
        corners = (box.min_x - margin, box.min_y - margin, box.max_x + margin, box.max_y + margin)
        pen.rectangle(corners, outline=mark.colour, width=2)
        if mark.name:
            place = (corners[2] + 4, box.center[1])
            place = (corners[0], corners[1] - 1) if mark.is_above else place
            anchor = "lb" if mark.is_above else "lm"
            pen.rectangle(pen.textbbox(place, mark.name, font, anchor=anchor), "white")
            pen.text(place, mark.name, mark.colour, font, anchor=anchor)
    return image


def line_marks(lines: Sequence[TextLine]) -> list[Mark]:
    """Return a mark for each line of text."""
    return [Mark(line.box, GREY) for line in lines]


def table_marks(tables: Sequence[Table]) -> list[Mark]:
    """Return a mark for each table and for each of its cells."""
    cells = [Mark(cell.box, GREEN) for table in tables for cell in table.cells]
    return cells + [Mark(table.box, BLUE, "table", 5, True) for table in tables]


def contact_marks(contacts: Sequence[Contact]) -> list[Mark]:
    """Return a mark for each entity of a card, with its tag."""
    return [Mark(contact.box, PURPLE, contact.tag) for contact in contacts]


def field_marks(fields: Sequence[FormField]) -> list[Mark]:
    """Return a mark for each key, and for each value a mark with the name of its entity."""
    keys = [Mark(field.key_box, BLUE) for field in fields if field.key_box]
    return keys + [Mark(f.value_box, ORANGE, f.entity) for f in fields if f.value_box]
