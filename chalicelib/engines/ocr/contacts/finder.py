"""Finds the contacts of a business card, for the task `contact` (contract, section 6).

Phone numbers, mail and web addresses are recognised by their format. Postal addresses are
recognised by their words and the lines around them. Mail and web addresses then help to find the
names of the person and the organisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from chalicelib.domain.documents.findings import Contact
from chalicelib.domain.documents.page import ReadPage, around
from chalicelib.engines.ocr.contacts import labels, settings
from chalicelib.engines.ocr.contacts.blocks import address_blocks
from chalicelib.engines.ocr.contacts.clues import clues_of
from chalicelib.engines.ocr.contacts.entries import split_parts, without_key
from chalicelib.engines.ocr.contacts.exact import EntityMatch, exact_entities
from chalicelib.engines.ocr.contacts.layout import Neighbours, is_below, is_next_to
from chalicelib.engines.ocr.contacts.names import name_entities
from chalicelib.engines.ocr.contacts.piece import CardPiece, pieces_of
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel


def find_contacts(page: ReadPage, check: CancelCheck = never_cancel) -> tuple[Contact, ...]:
    """Return the contacts of a card in reading order.

    Every text with two or more letters or digits is returned, except labels such as `Tel`. A text
    of unknown kind is a contact of the kind OTHER.
    """
    found, rest = find_exact(pieces_of(page.lines), check)
    blocks, rest = address_blocks(rest, check)
    found += blocks
    found += tag_names(rest, found, check)
    found.sort(key=lambda one: one.pieces[0].order)
    return tuple(as_contact(one) for one in found)


def as_contact(found: EntityMatch) -> Contact:
    """Convert a found contact to a `Contact`, with its box and probability.

    The probability is the mean probability of the pieces, weighted by length, times the confidence
    of the tag.
    """
    weight = sum(len(piece.text) for piece in found.pieces)
    read = sum(piece.line.probability * len(piece.text) for piece in found.pieces) / weight
    probability = min(1.0, max(0.0, read * found.confidence))
    return Contact(found.tag, found.text, probability, around(one.box for one in found.pieces))


def tag_names(
    rest: Sequence[CardPiece], found: Sequence[EntityMatch], check: CancelCheck = never_cancel
) -> list[EntityMatch]:
    """Tag the pieces in `rest` as person, organisation, title or other text.

    The mail and web addresses in `found` help to recognise names. The pieces in `rest` must not
    contain phone numbers or addresses.
    """
    parts: list[CardPiece] = []
    for piece in rest:
        check()
        parts += split_parts(without_key(piece))
    clues = clues_of(
        [one.text for one in found if one.tag == labels.EMAIL],
        [one.text for one in found if one.tag == labels.WEBSITE],
    )
    left = [part for part in parts if sum(map(str.isalnum, part.text)) > 1]
    lines = [piece for one in found for piece in one.pieces] + left
    usual = median(piece.height for piece in lines) if lines else 1.0
    return name_entities(left, clues, usual, check)


def find_exact(
    pieces: Sequence[CardPiece], check: CancelCheck = never_cancel
) -> tuple[list[EntityMatch], list[CardPiece]]:
    """Return phone numbers, mail and web addresses with their labels, and the remaining pieces."""
    found: list[EntityMatch] = []
    rest: list[CardPiece] = []
    for piece in pieces:
        check()
        entities, others = exact_entities(piece)
        found += entities
        rest += others
    marks = Neighbours([piece for piece in rest if labels.label_tag(piece.text)])
    used = set()
    for place, one in enumerate(found):
        check()
        mark = _label_of(one.pieces[0], marks)
        tag = labels.label_tag(mark.text) if mark is not None else None
        if mark is None or tag is None:
            continue
        if tag in labels.NUMBERS and one.tag in labels.NUMBERS:
            sure = max(one.confidence, settings.SUREST)
            found[place] = replace(one, tag=tag, confidence=sure)
        elif tag != one.tag:
            continue
        used.add(mark)
    return found, [piece for piece in rest if piece not in used]


def _label_of(piece: CardPiece, marks: Neighbours) -> CardPiece | None:
    """Return the label to the left of a number or address, else the label above it, or None."""
    near = sorted(marks.around(piece), key=lambda mark: mark.order)
    label = next((mark for mark in near if is_next_to(mark, piece, settings.AROUND_HEIGHTS)), None)
    return label or next((mark for mark in near if is_below(mark, piece)), None)
