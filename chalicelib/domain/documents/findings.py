"""What is found on a page: tables, contacts, fields of a form. Contract section 6.

Made by chalicelib/engines/ocr, described for the wire by chalicelib/web/records/describe_ocr.py.
Coordinates are those of chalicelib/domain/documents/page.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.documents.page import Rect

COLUMN_HEADER = "columnHeader"
ROW_HEADER = "rowHeader"
NORMAL = "normal"
# What a cell may be.
CELL_KINDS = (ROW_HEADER, COLUMN_HEADER, NORMAL)
# What a text on a business card may be.
CONTACT_TAGS = (
    "PERSON",
    "ORG",
    "TITLE",
    "PHONE",
    "MOBILE_PHONE",
    "FAX",
    "EMAIL",
    "ADDRESS",
    "WEBSITE",
    "OTHER",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    row: int
    """Its first row, from 1."""
    column: int
    """Its first column, from 1."""
    text: str
    """Its text, lines joined by a space; may be empty."""
    probability: float
    """Mean of its lines' probabilities, weighted by length; 0 to 1; that of the table's
    structure when it is empty."""
    box: Rect
    """Where it is: its text when it has any, else its place in the grid."""
    kind: str = NORMAL
    """One of CELL_KINDS."""
    row_span: int = 1
    """Rows it covers."""
    column_span: int = 1
    """Columns it covers."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of one page."""

    box: Rect
    """Where it is."""
    cells: tuple[Cell, ...]
    """Its cells row by row; empty cells are there too."""
    structure: float = 1.0
    """How sure its rows and columns are, 0 to 1."""
    above: tuple[str, ...] = ()
    """Rows of text above it on its page, from the top."""
    below: tuple[str, ...] = ()
    """Rows of text below it on its page, from the top."""

    @property
    def text(self) -> str:
        """Its text, row by row."""
        return " ".join(cell.text for cell in self.cells if cell.text)

    @property
    def probability(self) -> float:
        """That of its structure, times the mean of its inked cells', weighted by length."""
        weight = sum(len(cell.text) for cell in self.cells)
        total = sum(cell.probability * len(cell.text) for cell in self.cells)
        return self.structure * total / weight if weight else 0.0


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with the names that its headers, and a template's header cells, give it."""

    table: Table
    """The table; a row or column that only a header cell of the template revealed as a header
    has its kind corrected."""
    name: str | None
    """The template's name for it, unique among the tables that were named together; None when
    no header cell names it."""
    cell_entities: tuple[str | None, ...]
    """For each cell of the table: the template's entity of the header that it is, or of its
    column's or else row's header; None without one."""
    row_entities: Mapping[int, str]
    """For rows (from 1) with a row header: its entity, or else its text. Not meant for the row
    headers themselves."""
    column_entities: Mapping[int, str]
    """For columns (from 1) with a column header: its entity, or else its text. Not meant for the
    column headers themselves."""


@dataclass(frozen=True, slots=True)
class Contact:
    """One entity of a business card."""

    tag: str
    """One of CONTACT_TAGS."""
    text: str
    """Its text, without the word that labels it."""
    probability: float
    """0 to 1."""
    box: Rect
    """Where it is."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A key of a form template that was found, and its value."""

    entity: str
    """The template's name for it."""
    key_text: str
    """The key as it was read; empty for a virtual key."""
    key_box: Rect | None
    """Where the key is; None for a virtual key."""
    value_text: str
    """The value as it was read; empty when there is none."""
    value_box: Rect | None
    """Where the value is; None when there is none."""
    probability: float
    """0 to 1."""
    normalized: str | None = None
    """A U.S. address as a JSON object; None for anything else."""
    fit: float | None = None
    """How much this place is the key's, against other pages, 0 to 1; None for the probability."""
    key_score: float = 1.0
    """How much the text there stands as a key does, 0 to 1; 1 for a field without a printed key."""
