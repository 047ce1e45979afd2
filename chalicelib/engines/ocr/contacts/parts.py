"""Splits lines that contain two contacts, such as `Dana Reyes | Sales Manager`."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.contacts.entries import key_end
from chalicelib.engines.ocr.contacts.piece import CardPiece
from chalicelib.engines.ocr.kinds.headings import is_heading
from chalicelib.engines.ocr.kinds.organisation import has_legal_form, organisation_confidence
from chalicelib.engines.ocr.kinds.person import are_credentials, person_confidence
from chalicelib.engines.ocr.kinds.title import title_confidence

_BETWEEN = re.compile(r" ?[|•·] ?| [-–—/] |, ")


def split_parts(piece: CardPiece) -> list[CardPiece]:
    """Split a line at separators between a person or company and text of another kind."""
    if len(piece.text) > settings.LONGEST_ENTRY:
        return [piece]
    for match in _BETWEEN.finditer(piece.text):
        left, right = piece.cut(0, match.start()), piece.cut(match.end(), len(piece.text))
        if left is None or right is None or are_credentials(right.text.partition(",")[0]):
            continue
        if _are_two_things(left.text, right.text, is_comma=match.group() == ", "):
            return [left, *split_parts(right)]
    return [piece]


def without_key(piece: CardPiece) -> CardPiece:
    """Remove the field name before a name or job: `Full Name: Dana Reyes`, `Attn: Dana Reyes`."""
    end = key_end(piece.text)
    if not end or not is_heading(piece.text[: end - 1]):
        return piece
    value = piece.cut(end, len(piece.text))
    return value if value is not None and _kind(value.text) is not None else piece


def _are_two_things(left: str, right: str, *, is_comma: bool) -> bool:
    """Return whether the two sides of a separator are different kinds of text."""
    kinds = {_kind(left), _kind(right)} - {None}
    if kinds == {"person", "title"} or kinds == {"person", "organisation"}:
        return True
    return not is_comma and kinds == {"title", "organisation"}


def _kind(text: str) -> str | None:
    """Return the kind of a text: person, company or title; None if it is uncertain."""
    if has_legal_form(text):
        return "organisation"
    if title_confidence(text) >= settings.SURE_KIND:
        return "title"
    if organisation_confidence(text) >= settings.SURE_KIND:
        return "organisation"
    return "person" if person_confidence(text) >= settings.SURE_KIND else None
