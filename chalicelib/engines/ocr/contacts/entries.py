"""Recognises lines of bills and forms that are not addresses: field names, dates, amounts."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.kinds.address import STREET_WORDS, UNIT_WORDS
from chalicelib.engines.ocr.kinds.amounts import find_money
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.span import folded_words, word_set

_KEY = re.compile(r"(?P<key>[^\W\d][^:：]{0,60}|[#(][^:：]{0,60}?[^\W\d][^:：]{0,30})[:：]")
_PARTS = UNIT_WORDS | word_set("box c/o attn attention care of po p/o pobox")
_CENTS = re.compile(r"[.,]\d\d(?!\d)")


def key_end(text: str) -> int:
    """Return the index after the colon of the field name that begins a text; 0 without one."""
    match = _KEY.match(text)
    return match.end() if match and len(match["key"].split()) <= settings.TOWN_WORDS else 0


def is_entry(text: str) -> bool:
    """Return whether a line, or a part of one, is an entry of a bill or form, not of an address."""
    text = text[: settings.LONGEST_ENTRY]
    end = key_end(text)
    if end:
        words = folded_words(text[:end])
        return not (words and all(word in _PARTS for word in words))
    return _has_date(text) or has_amount(text)


def _has_date(text: str) -> bool:
    """Return whether a line contains a date with its year."""
    return any(span.confidence >= settings.FURTHER_CERTAINTY for span in find_dates(text))


def has_amount(text: str) -> bool:
    """Return whether a line contains an amount of money, and not `Rm 12` or `Unit 3.02`."""
    spans = find_money(text)
    if any(
        span.confidence >= settings.FURTHER_CERTAINTY and _CENTS.search(span.text) for span in spans
    ):
        return True
    if any(span.text[0] in "$£€¥₹" for span in spans):
        return True
    words = folded_words(text)
    is_part = any(word in UNIT_WORDS or word in STREET_WORDS for word in words)
    return bool(spans) and not is_part and any(_CENTS.search(span.text) for span in spans)
