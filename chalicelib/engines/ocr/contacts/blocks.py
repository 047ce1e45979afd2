"""Finds postal addresses, which consist of several lines in one column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chalicelib.engines.ocr.contacts import labels, settings
from chalicelib.engines.ocr.contacts.entries import is_entry, key_end
from chalicelib.engines.ocr.contacts.exact import EntityMatch
from chalicelib.engines.ocr.contacts.layout import Neighbours, is_below, is_next_to
from chalicelib.engines.ocr.contacts.piece import CardPiece, join_text
from chalicelib.engines.ocr.forms.segments import is_level
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel
from chalicelib.engines.ocr.kinds.address import address_confidence, is_unit, names_street
from chalicelib.engines.ocr.kinds.headings import is_heading
from chalicelib.engines.ocr.kinds.organisation import organisation_confidence
from chalicelib.engines.ocr.kinds.person import person_confidence
from chalicelib.engines.ocr.kinds.postcode import find_postcodes, find_state_zips, is_country
from chalicelib.engines.ocr.kinds.title import title_confidence

_ICON = re.compile(r"(?:[A-Za-z©®@°?]\W?|\W{1,2}) (?=\d)")


def address_blocks(
    pieces: Sequence[CardPiece], check: CancelCheck = never_cancel
) -> tuple[list[EntityMatch], list[CardPiece]]:
    """Find addresses, each of one or more pieces; return the addresses and all other pieces.

    The given pieces must not contain phone numbers, mail addresses or web addresses.
    """
    blocks = _Blocks(dict(part for piece in pieces for part in _parts(piece)), check)
    found = list(blocks.found())
    taken = {piece for one in found for piece in one.pieces}
    return found, [piece for piece in blocks.pieces if piece not in taken]


class _Blocks:
    def __init__(self, wholes: dict[CardPiece, CardPiece], check: CancelCheck) -> None:
        self.pieces = list(wholes)
        self._wholes = wholes
        self._near = Neighbours(self.pieces)
        self._sure: dict[CardPiece, float] = {}
        self._used: set[CardPiece] = set()
        self._check = check
        for piece in self.pieces:
            check()
            self._sure[piece] = 0.0 if is_entry(piece.text) else address_confidence(piece.text)

    def found(self) -> Iterator[EntityMatch]:
        """Yield the addresses in the order of the pieces."""
        for piece in self.pieces:
            if self._sure[piece] < settings.WEAK_ADDRESS or piece in self._used:
                continue
            self._check()
            block = _without_head(self._grown(piece), self._sure)
            self._used.add(piece)
            best = max(self._sure[one] for one in block)
            if best < (settings.SURE_KIND if len(block) == 1 else settings.KIND_CERTAINTY):
                continue
            self._used.update(block)
            yield EntityMatch(
                labels.ADDRESS, join_text(block), min(settings.SUREST, best), tuple(block)
            )

    def _grown(self, first: CardPiece) -> list[CardPiece]:
        block = [first]
        while len(block) < settings.ADDRESS_LINES and (following := self._following(block)):
            block.append(following)
        return block

    def _following(self, block: Sequence[CardPiece]) -> CardPiece | None:
        """Return the piece that continues an address; None at the end of the address.

        A text that does not look like part of an address ends it. But between two lines of the
        address, such a text may be a town or a quarter.
        """
        barrier: CardPiece | None = None
        for piece in self._candidates(block[-1]):
            if piece in block or (barrier is not None and not is_level(barrier.rect, piece.rect)):
                continue
            if self._sure[piece] >= settings.WEAK_ADDRESS:
                if _may_follow(block, piece):
                    return piece
            elif self._bridges(block, piece):
                return piece
            barrier = barrier or piece
        return None

    def _candidates(self, last: CardPiece) -> list[CardPiece]:
        wholes = {last, self._wholes[last]}
        near = [
            piece
            for piece in self._near.around(last)
            if piece not in self._used and any(_continues(each, piece) for each in wholes)
        ]
        return sorted(near, key=lambda piece: _nearness(last, piece))

    def _bridges(self, block: Sequence[CardPiece], bridge: CardPiece) -> bool:
        """Return whether the text `bridge` may be the town or quarter of the address in `block`."""
        return _may_be_town(bridge.text) and any(
            self._sure[piece] >= settings.WEAK_ADDRESS and _may_follow(block, piece)
            for piece in self._candidates(bridge)
            if piece not in block
        )


def _parts(piece: CardPiece) -> Iterator[tuple[CardPiece, CardPiece]]:
    """Yield lines that may be in an address, without field names, each with its original piece."""
    end = key_end(piece.text)
    tail = piece.cut(end, len(piece.text)) if end else None
    if tail is None or (
        labels.label_tag(piece.text[: end - 1]) != labels.ADDRESS
        and address_confidence(tail.text) < settings.SURE_KIND
    ):
        yield _without_icon(piece), piece
        return
    head = piece.cut(0, end - 1)
    # `Ship to` is only a label or heading.
    if head is not None and not labels.is_label(head.text) and not is_heading(head.text):
        yield head, head
    yield _without_icon(tail), piece


def _without_icon(piece: CardPiece) -> CardPiece:
    """Remove a misread map icon, or a label of one letter, before the address in a piece."""
    icon = _ICON.match(piece.text)
    if icon is None:
        return piece
    part = piece.cut(icon.end(), len(piece.text))
    return (
        part if part is not None and address_confidence(part.text) >= settings.SURE_KIND else piece
    )


def _without_head(block: list[CardPiece], sure: dict[CardPiece, float]) -> list[CardPiece]:
    """Remove the lines of a block above its street, except those that look like an address."""
    street = next((at for at, piece in enumerate(block) if names_street(piece.text)), 0)
    begin = street
    while begin and (
        sure[block[begin - 1]] >= settings.KIND_CERTAINTY or is_unit(block[begin - 1].text)
    ):
        begin -= 1
    return block[begin:]


def _may_follow(block: Sequence[CardPiece], piece: CardPiece) -> bool:
    """Return whether a line can continue an address.

    After a state and ZIP code, only a country can follow. A complete address cannot have a second
    street.
    """
    text = piece.text
    if any(find_state_zips(one.text) for one in block):
        return is_country(text)
    # This text is tested first: most texts name no street, and a block has many lines.
    is_second = names_street(text) and any(names_street(one.text) for one in block)
    return not (is_second and any(find_postcodes(one.text) for one in block))


def _continues(last: CardPiece, piece: CardPiece) -> bool:
    least, most = sorted((last.height, piece.height))
    return most < settings.SAME_SIZE_TIMES * least and (
        is_next_to(last, piece) or is_below(last, piece, settings.ADDRESS_LINE_GAP_HEIGHTS)
    )


def _nearness(last: CardPiece, piece: CardPiece) -> tuple[bool, float, tuple[int, int]]:
    """Return a key that sorts the pieces after `last`: first the same line, then lines below."""
    is_same_line = is_next_to(last, piece)
    gap = piece.rect.min_x - last.rect.max_x if is_same_line else piece.rect.min_y
    return not is_same_line, gap, piece.order


def _may_be_town(text: str) -> bool:
    """Return whether a text may be a town or quarter: a few words that are not a name or title."""
    kinds = (title_confidence(text), person_confidence(text), organisation_confidence(text))
    plain = text[:1].isalnum() and len(text.split()) <= settings.TOWN_WORDS
    return plain and max(kinds) < settings.SURE_KIND and not is_entry(text) and not is_heading(text)
