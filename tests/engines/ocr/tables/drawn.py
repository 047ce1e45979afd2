"""Drawn pages for table tests, with the lines that an engine would read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.documents.findings import Table
from chalicelib.domain.documents.page import Page, Quad, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.engines.ocr.tables.structure import StructureModel, load_structure

MODELS = Path(__file__).resolve().parents[4] / ".models"
Colour = tuple[int, int, int]
BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
PROSE = (
    "The committee met in spring and heard the reports of all members",
    "who had been asked to look into the state of the harbour walls.",
    "They found that most of the stones were sound, and that the few",
    "which had to be replaced could be cut from the quarry nearby.",
    "Work was to begin before summer and to end before the first frost.",
    "The costs were to be shared by the town and by the owners of boats.",
)


@cache
def structure() -> StructureModel:
    """Load the installed network once."""
    return load_structure(MODELS / "slanet")


class Reader:
    """Replaces the text engine: reads nothing, and counts calls."""

    name = "reader"

    def __init__(self) -> None:
        self.asked = 0

    def read(self, pixels: np.ndarray, check: object) -> tuple[TextLine, ...]:
        return ()

    def read_crops(
        self, pixels: np.ndarray, quads: Sequence[Quad], check: object
    ) -> tuple[TextLine | None, ...]:
        self.asked += len(quads)
        return tuple(None for _ in quads)


@dataclass
class Sheet:
    """A page to draw on, which records texts as lines with positions."""

    width: int = 1000
    height: int = 700
    size: float = 20
    ground: Colour = WHITE
    lines: list[TextLine] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.image = Image.new("RGB", (self.width, self.height), self.ground)
        self.pen = ImageDraw.Draw(self.image)

    def length(self, text: str) -> float:
        """Return the drawn length of a text."""
        return float(ImageFont.load_default(size=self.size).getlength(text))

    def write(
        self, x: float, y: float, text: str, colour: Colour = BLACK, *, is_noted: bool = True
    ) -> None:
        """Write a text with its top left corner at a position."""
        font = ImageFont.load_default(size=self.size)
        self.pen.text((x, y), text, font=font, fill=colour)
        left, top, right, bottom = self.pen.textbbox((x, y), text, font=font)
        box = Rect(left - 3, top - 4, right + 3, bottom + 4)
        ends = [font.getlength(text[:number]) for number in range(len(text) + 1)]
        places = tuple((x + (a + b) / 2 - box.min_x) / box.width for a, b in pairwise(ends))
        if is_noted:
            self.lines.append(TextLine(text, 0.9, box, None, places))

    def rule(self, start: tuple[float, float], end: tuple[float, float], width: int = 2) -> None:
        """Draw a line."""
        self.pen.line([start, end], fill=BLACK, width=width)

    def page(self, *, is_exact: bool = False) -> ReadPage:
        """Return the page as it was read."""
        pixels = np.asarray(self.image)
        page = Page(1, self.width, self.height, 1.0, pixels)
        return ReadPage(page, 0, pixels, tuple(self.lines), is_exact)

    def tables(self, reader: Reader | None = None, *, with_network: bool = True) -> list[Table]:
        """Find the tables on the page."""
        network = structure() if with_network else None
        return list(find_tables(self.page(), reader or Reader(), network, lambda: None))


def columns_of(sheet: Sheet, rows: Sequence[Sequence[str]], left: float, gap: float) -> list[float]:
    """Return the left sides of columns whose longest text is followed by a gap."""
    edges = [left]
    for column in zip(*rows, strict=True):
        edges.append(edges[-1] + max(sheet.length(text) for text in column) + gap)
    return edges


def draw_rows(
    sheet: Sheet,
    rows: Sequence[Sequence[str]],
    corner: tuple[float, float] = (60, 60),
    gap: float = 40,
    pitch: float = 34,
) -> tuple[list[float], list[float]]:
    """Draw rows of text; return the borders of columns and rows."""
    edges = columns_of(sheet, rows, corner[0], gap)
    for number, row in enumerate(rows):
        for x, text in zip(edges, row, strict=False):
            if text:
                sheet.write(x, corner[1] + number * pitch, text)
    tops = [corner[1] - 6 + number * pitch for number in range(len(rows) + 1)]
    return edges, tops


def grid_lines(sheet: Sheet, edges: Sequence[float], tops: Sequence[float]) -> None:
    """Draw every border between drawn rows."""
    for y in tops:
        sheet.rule((edges[0] - 12, y), (edges[-1] - 12, y))
    for x in edges:
        sheet.rule((x - 12, tops[0]), (x - 12, tops[-1]))


def texts(table: Table) -> list[list[str]]:
    """Return the texts of a table row by row."""
    rows: dict[int, list[str]] = {}
    for cell in table.cells:
        rows.setdefault(cell.row, []).append(cell.text)
    return [rows[row] for row in sorted(rows)]


SALES = (
    ("Item", "Units", "Price", "Share"),
    ("Pencil", "120", "1.50", "12.5%"),
    ("Notebook", "84", "3.20", "8.1%"),
    ("Eraser", "310", "0.75", "31.0%"),
    ("Ruler", "57", "2.10", "5.9%"),
    ("Folder", "96", "4.00", "10.2%"),
)
"""A small table: a head and five rows."""
