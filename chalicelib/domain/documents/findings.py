"""What OCR finds on a page: tables, contacts and form fields. Contract section 6.

Coordinates are those of chalicelib/domain/documents/page.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.documents.page import Rect

COLUMN_HEADER = "columnHeader"
ROW_HEADER = "rowHeader"
NORMAL = "normal"
# Kinds of table cells.
CELL_KINDS = (ROW_HEADER, COLUMN_HEADER, NORMAL)
# Tags of texts on a business card.
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
    """A cell of a table."""

    row: int
    """First row of the cell, from 1."""
    column: int
    """First column of the cell, from 1."""
    text: str
    """Lines of the cell, joined by a space; may be empty."""
    probability: float
    """0 to 1, weighted by line length; if empty, the probability of the table's structure."""
    box: Rect
    """Box of the text; of an empty cell, its box in the grid."""
    kind: str = NORMAL
    """One of CELL_KINDS."""
    row_span: int = 1
    column_span: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """One table of one page."""

    box: Rect
    cells: tuple[Cell, ...]
    """Row by row, including empty cells."""
    structure: float = 1.0
    """Probability that its rows and columns are right, 0 to 1."""
    above: tuple[str, ...] = ()
    """Text rows above it on its page, from the top."""
    below: tuple[str, ...] = ()
    """Text rows below it on its page, from the top."""

    @property
    def text(self) -> str:
        """Return the text of the table, row by row."""
        return " ".join(cell.text for cell in self.cells if cell.text)

    @property
    def probability(self) -> float:
        """Return the probability of the structure times the mean of the non-empty cells."""
        # Weighted by length, because long cells hold most of the text that can be wrong.
        weight = sum(len(cell.text) for cell in self.cells)
        total = sum(cell.probability * len(cell.text) for cell in self.cells)
        return self.structure * total / weight if weight else 0.0


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with names from its headers and from the header cells of a template."""

    table: Table
    """The table; rows and columns that are headers only in the template are marked as such."""
    name: str | None
    """Name in the template, unique among the named tables; None when no header cell names it."""
    cell_entities: tuple[str | None, ...]
    """For each cell the template's entity of its header (its column's, else its row's), or None."""
    row_entities: Mapping[int, str]
    """Entity or text of the row header, by row from 1; not for the row headers themselves."""
    column_entities: Mapping[int, str]
    """Entity or text of the column header, by column from 1; not for column headers."""


@dataclass(frozen=True, slots=True)
class Contact:
    """One entity of a business card."""

    tag: str
    """One of CONTACT_TAGS."""
    text: str
    probability: float
    """0 to 1."""
    box: Rect


@dataclass(frozen=True, slots=True)
class FormField:
    """A key of a form template that was found, and its value."""

    entity: str
    key_text: str
    """The key as recognised; empty for a virtual key."""
    key_box: Rect | None
    """Place of the key on the page; None for a virtual key, which has no label there."""
    value_text: str
    """The value as recognised; empty when there is none."""
    value_box: Rect | None
    """None without a value."""
    probability: float
    """0 to 1."""
    normalized: str | None = None
    """A U.S. address as a JSON object; None for anything else."""
    fit: float | None = None
    """Score against the key's places on other pages, 0 to 1; None to use the probability."""
    key_score: float = 1.0
    """How well the text there looks like a key, 0 to 1; 1 for a field without a printed key."""
