"""Finds all texts of one kind on a page, such as phone numbers, for form templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from chalicelib.domain.documents.findings import Contact
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.contacts import labels, settings
from chalicelib.engines.ocr.contacts.blocks import address_blocks
from chalicelib.engines.ocr.contacts.exact import EntityMatch
from chalicelib.engines.ocr.contacts.finder import as_contact, find_exact, tag_names
from chalicelib.engines.ocr.contacts.piece import CardPiece, pieces_of
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel
from chalicelib.engines.ocr.kinds.dates import find_dates

# Tag of dates and times, which business cards do not have.
DATETIME = "DATETIME"

_TAGS: Mapping[str, tuple[str, ...]] = {
    "person": (labels.PERSON,),
    "org": (labels.ORG,),
    "phone": labels.NUMBERS,
    "email": (labels.EMAIL,),
    "website": (labels.WEBSITE,),
    "address": (labels.ADDRESS,),
    "datetime": (DATETIME,),
}
_NAMED = ("person", "org")


class VirtualTexts:
    """The texts of each kind on one page. Each search runs only once."""

    def __init__(self, page: ReadPage, check: CancelCheck = never_cancel) -> None:
        self._page = page
        self._check = check

    def find(self, kind: str) -> tuple[Contact, ...]:
        """Return the texts of a kind in VIRTUAL_KEYS; the most certain text is first.

        Fax numbers are last. Equally certain texts are in reading order.
        """
        tags = _TAGS[kind]
        found = [one for one in self._source(kind) if one.tag in tags]
        found.sort(
            key=lambda one: (
                one.tag == labels.FAX,
                -round(one.confidence, 2),
                one.pieces[0].order,
            )
        )
        return tuple(as_contact(one) for one in found)

    def _source(self, kind: str) -> list[EntityMatch]:
        if kind == "datetime":
            return self._dates
        if kind == "address":
            return self._blocks[0]
        return self._names if kind in _NAMED else self._exact[0]

    @cached_property
    def _pieces(self) -> list[CardPiece]:
        return pieces_of(self._page.lines)

    @cached_property
    def _exact(self) -> tuple[list[EntityMatch], list[CardPiece]]:
        return find_exact(self._pieces, self._check)

    @cached_property
    def _blocks(self) -> tuple[list[EntityMatch], list[CardPiece]]:
        return address_blocks(self._exact[1], self._check)

    @cached_property
    def _names(self) -> list[EntityMatch]:
        blocks, rest = self._blocks
        values = [_value(piece) for piece in rest]
        kept = [piece for piece in values if not piece.text.rstrip().endswith(":")]
        return tag_names(kept, [*self._exact[0], *blocks], self._check)

    @cached_property
    def _dates(self) -> list[EntityMatch]:
        found: list[EntityMatch] = []
        for piece in self._pieces:
            self._check()
            for span in find_dates(piece.text):
                part = piece.part(span.start, span.end)
                found.append(EntityMatch(DATETIME, span.text, span.confidence, (part,)))
        return found


def _value(piece: CardPiece) -> CardPiece:
    """Return the text after a field name, as in `Patient: Dana Reyes`; else the whole piece."""
    head, colon, tail = piece.text.partition(":")
    if not colon or not tail.strip() or len(head.split()) > settings.TOWN_WORDS:
        return piece
    return piece.cut(len(head) + 1, len(piece.text)) or piece
