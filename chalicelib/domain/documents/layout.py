"""A document as people read it: where each run of words stands, and its text block by block.

Made by chalicelib/engines/ocr/layout, put together by the OCR service.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chalicelib.domain.documents.findings import Table

PLAIN: Final = "text"
MARKDOWN: Final = "markdown"
# How the text of a document may be written.
OUTPUTS = (PLAIN, MARKDOWN)


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """Where a run of words stands among all others; each counts from 1."""

    block: int
    """Number of its paragraph, heading or the like."""
    line: int
    """Number of its line."""
    order: int
    """Its own number."""

    def behind(self, last: ReadingPlace) -> ReadingPlace:
        """Go on counting behind another."""
        return ReadingPlace(last.block + self.block, last.line + self.line, last.order + self.order)


# Before the first run.
NOWHERE = ReadingPlace(0, 0, 0)


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """A paragraph, a heading, a table: what a document is written from."""

    lines: tuple[str, ...]
    """The text of each line; none of a table."""
    flows_on: tuple[bool, ...]
    """Of each line but the last: whether the next one merely had no room behind it."""
    height: float
    """Height of its print, in pixels of the answer."""
    table: Table | None = None
    """The table that stands there."""
