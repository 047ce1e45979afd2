"""A document in reading order: the position of each run of words, and the text of each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from chalicelib.domain.documents.findings import Table
    from chalicelib.domain.documents.page import Rect

PLAIN: Final = "text"
MARKDOWN: Final = "markdown"
# Output formats of a document's text.
OUTPUTS = (PLAIN, MARKDOWN)

Role = Literal["pageHeader", "pageFooter", "heading", "body"]
PAGE_HEADER: Final = "pageHeader"
PAGE_FOOTER: Final = "pageFooter"
HEADING: Final = "heading"
BODY: Final = "body"
# Running heads and footers, which repeat on the pages of a document.
FURNITURE = (PAGE_HEADER, PAGE_FOOTER)


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """Position of a run of words in the reading order; all numbers count from 1."""

    block: int
    """Number of the paragraph, heading or table that contains the words."""
    line: int
    order: int

    def after(self, last: ReadingPlace) -> ReadingPlace:
        """Convert this position, counted within a page, to the position within the document.

        `last` is the position of the last words before the page.
        """
        return ReadingPlace(last.block + self.block, last.line + self.line, last.order + self.order)


# The position before the first run of words.
NOWHERE = ReadingPlace(0, 0, 0)


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """A paragraph, heading or table of a document's text."""

    lines: tuple[str, ...]
    """Text of each line; empty for a table."""
    flows_on: tuple[bool, ...]
    """For each line except the last: whether it ends only because the next word did not fit."""
    height: float
    """Height of one line of the text, in pixels as the API returns them."""
    table: Table | None = None
    box: Rect | None = None
    """Box on the page, in the coordinates of the text lines; None if unknown."""
    is_bold: bool = False
    """Whether all of its text is bold."""
    lefts: tuple[float, ...] = ()
    """Left edge of each line, in the unit of `height`; empty if unknown."""
    cells: tuple[tuple[str, ...], ...] = ()
    """Texts of each line by columns; empty if the text is not in columns."""
