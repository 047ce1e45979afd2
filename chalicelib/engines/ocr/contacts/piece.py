"""Parts of text lines, with their positions on the page and on the deskewed page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.forms.segments import LineSegment, deskewed, tilt


@dataclass(frozen=True, slots=True, eq=False)
class CardPiece(LineSegment):
    """A run of characters of one text line, with at least one visible character."""

    number: int
    """Index of the line on the page."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def order(self) -> tuple[int, int]:
        """Return the index of the line, and of the piece's first character in the line."""
        return self.number, self.start

    def cut(self, start: int, end: int) -> CardPiece | None:
        """Return the characters from start to end, without outer spaces; None if empty."""
        return self.part(start, end) if self.text[start:end].strip() else None


def pieces_of(lines: Sequence[TextLine]) -> list[CardPiece]:
    """Split the lines of a page into pieces, at gaps that are wide enough to separate columns."""
    angle = tilt(lines)
    wholes = (
        CardPiece(line, 0, len(line.text), deskewed(line, angle), number)
        for number, line in enumerate(lines)
        if line.text.strip()
    )
    return [part for whole in wholes for part in _columns(whole)]


def join_text(pieces: Iterable[CardPiece]) -> str:
    """Join the texts of pieces with spaces."""
    return " ".join(piece.text for piece in pieces)


def _columns(piece: CardPiece) -> list[CardPiece]:
    text, places = piece.text, piece.line.places
    if len(places) != len(text) or " " not in text:
        return [piece]
    width = piece.rect.width
    pitch = median(abs(after - before) for before, after in pairwise(places)) * width
    widest = 2 * pitch + settings.COLUMN_GAP_HEIGHTS * piece.height
    cuts = [
        place
        for place in range(1, len(text) - 1)
        if text[place] == " " and abs(places[place + 1] - places[place - 1]) * width > widest
    ]
    parts = [piece.cut(start, end) for start, end in pairwise([0, *cuts, len(text)])]
    return [part for part in parts if part is not None]
