"""What OCR finds on a page: tables, contacts and form fields. See contract section 6.

Coordinates are pixels of the page's raster, see chalicelib/domain/documents/page.py.
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
    """Number of the first row that the cell covers, from 1."""
    column: int
    """Number of the first column that the cell covers, from 1."""
    text: str
    """Lines of the cell, joined by a space; may be empty."""
    probability: float
    """Mean probability of the cell's lines, weighted by length; for an empty cell,
    `Table.structure`."""
    box: Rect
    """Box of the text; for an empty cell, the box of the cell in the grid of the table."""
    kind: str = NORMAL
    """One of CELL_KINDS."""
    row_span: int = 1
    column_span: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """One table of one page."""

    box: Rect
    cells: tuple[Cell, ...]
    """All cells row by row, empty cells included."""
    structure: float = 1.0
    """Probability that rows and columns were found correctly, 0 to 1."""
    above: tuple[str, ...] = ()
    """Text of the rows above the table on its page, from the top."""
    below: tuple[str, ...] = ()
    """Text of the rows below the table on its page, from the top."""

    @property
    def text(self) -> str:
        """Return the text of the table, row by row."""
        return " ".join(cell.text for cell in self.cells if cell.text)

    @property
    def probability(self) -> float:
        """Return the probability that rows, columns and the cells' texts were found correctly."""
        # Weighted by length, because long cells hold most of the text that can be wrong.
        weight = sum(len(cell.text) for cell in self.cells)
        total = sum(cell.probability * len(cell.text) for cell in self.cells)
        return self.structure * total / weight if weight else 0.0


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table, with the names that a form template gives to the table and to its cells."""

    table: Table
    """The table. Rows and columns with header cells of the template are marked as headers."""
    name: str | None
    """Name of the table, unique among tables; None if none of its header cells has a table name."""
    cell_entities: tuple[str | None, ...]
    """For each cell, the entity of its column header. If that header has no entity, it is the
    entity of the row header; None if neither header has one."""
    row_entities: Mapping[int, str]
    """For each row with a header, by row number from 1: the entity of the header, or its text if it
    has no entity."""
    column_entities: Mapping[int, str]
    """For each column with a header, by column number from 1: the entity of the header, or its text
    if it has no entity."""


@dataclass(frozen=True, slots=True)
class Contact:
    """One item on a business card, such as a name or a phone number."""

    tag: str
    """One of CONTACT_TAGS."""
    text: str
    probability: float
    """Probability that the value is right, 0 to 1."""
    box: Rect


@dataclass(frozen=True, slots=True)
class TickBox:
    """A tick box or radio button on a page."""

    rect: Rect
    is_ticked: bool
    value: str = ""
    """Value that the field of a PDF's form exports if it is ticked."""


@dataclass(frozen=True, slots=True)
class FormField:
    """The value found for a key of a form template."""

    entity: str
    key_text: str
    """Text of the key as recognised; empty for a virtual key."""
    key_box: Rect | None
    """Box of the key; None for a virtual key, because its text is not on the page."""
    value_text: str
    """Text of the value as recognised; empty if there is no value."""
    value_box: Rect | None
    """Box of the value; None if there is no value."""
    probability: float
    """Probability that the value is right, 0 to 1."""
    normalized: str | None = None
    """The value as a JSON object if it is a U.S. address, otherwise None."""
    fit: float | None = None
    """Score, 0 to 1, by which `best_fields` chooses among the fields found for an entity on several
    pages; None to use `probability`."""
    key_score: float = 1.0
    """How well the key on the page matches the template, 0 to 1; 1 for a virtual key."""
    tick: TickBox | None = None
    """The tick box that is the value, or whose text is the value; None if there is none."""
