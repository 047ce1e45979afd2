"""Recognises and splits lines of bills, forms and cards: field names, dates, amounts, pairs."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.contacts.piece import CardPiece
from chalicelib.engines.ocr.kinds.address import STREET_WORDS, UNIT_WORDS
from chalicelib.engines.ocr.kinds.amounts import find_money
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.headings import is_heading
from chalicelib.engines.ocr.kinds.organisation import has_legal_form, organisation_confidence
from chalicelib.engines.ocr.kinds.person import are_credentials, person_confidence
from chalicelib.engines.ocr.kinds.span import folded_words, word_set
from chalicelib.engines.ocr.kinds.title import title_confidence

_KEY = re.compile(r"(?P<key>[^\W\d][^:：]{0,60}|[#(][^:：]{0,60}?[^\W\d][^:：]{0,30})[:：]")
_PARTS = UNIT_WORDS | word_set("box c/o attn attention care of po p/o pobox")
_BETWEEN = re.compile(r" ?[|•·] ?| [-–—/] |, ")
_CENTS = re.compile(r"[.,]\d\d(?!\d)")


def key_end(text: str) -> int:
    """Return the end of a field name (`Name:`) at the start of a text; 0 if there is none."""
    match = _KEY.match(text)
    return match.end() if match and len(match["key"].split()) <= settings.TOWN_WORDS else 0


def is_entry(text: str) -> bool:
    """Return whether a line, or part of a line, is an entry of a bill or form.

    Such a text is not part of an address.
    """
    text = text[: settings.LONGEST_ENTRY]
    end = key_end(text)
    if end:
        words = folded_words(text[:end])
        return not (words and all(word in _PARTS for word in words))
    has_date = any(span.confidence >= settings.FURTHER_CERTAINTY for span in find_dates(text))
    return has_date or has_amount(text)


def has_amount(text: str) -> bool:
    """Return whether a line has an amount of money. `Rm 12` and `Unit 3.02` have none."""
    is_part = any(word in UNIT_WORDS or word in STREET_WORDS for word in folded_words(text))
    least = settings.FURTHER_CERTAINTY if is_part else 0.0
    return any(
        span.text[0] in "$£€¥₹" or (span.confidence >= least and bool(_CENTS.search(span.text)))
        for span in find_money(text)
    )


def split_parts(piece: CardPiece) -> list[CardPiece]:
    """Split a line at separators between different kinds of text: person, company or job title."""
    if len(piece.text) > settings.LONGEST_ENTRY:
        return [piece]
    for match in _BETWEEN.finditer(piece.text):
        left, right = piece.cut(0, match.start()), piece.cut(match.end(), len(piece.text))
        if left is None or right is None or are_credentials(right.text.partition(",")[0]):
            continue
        kinds = {_kind(left.text), _kind(right.text)} - {None}
        # A comma does not separate a job title from a company.
        if len(kinds) > 1 and ("person" in kinds or match.group() != ", "):
            return [left, *split_parts(right)]
    return [piece]


def without_key(piece: CardPiece) -> CardPiece:
    """Remove the field name before a name or job: `Full Name: Dana Reyes`, `Attn: Dana Reyes`."""
    end = key_end(piece.text)
    if not end or not is_heading(piece.text[: end - 1]):
        return piece
    value = piece.cut(end, len(piece.text))
    return value if value is not None and _kind(value.text) is not None else piece


def _kind(text: str) -> str | None:
    """Return the kind of a text: person, company or title; None if it is uncertain."""
    if has_legal_form(text):
        return "organisation"
    if title_confidence(text) >= settings.SURE_KIND:
        return "title"
    if organisation_confidence(text) >= settings.SURE_KIND:
        return "organisation"
    return "person" if person_confidence(text) >= settings.SURE_KIND else None
