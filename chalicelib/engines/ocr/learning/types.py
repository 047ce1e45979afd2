"""Finds the types of an entity from its values, and layout hints from the pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.internet import find_mails
from chalicelib.engines.ocr.kinds.phone import find_phones
from chalicelib.engines.ocr.kinds.span import Span
from chalicelib.engines.ocr.learning.captions import folded_words
from chalicelib.engines.ocr.learning.examples import LearningExample

# In the order in which they are tried: a date is also digits, an amount also a number.
_FINDERS: Mapping[str, Callable[[str], tuple[Span, ...]]] = {
    "DATE": find_dates,
    "EMAIL": find_mails,
    "PHONE": find_phones,
    "CURRENCY": find_money,
}
# Fraction of the values that must have a type.
_MOST_VALUES = 0.8
# Headers of the two columns of amounts that pay statements have.
_OF_YEAR = tuple(map(folded_words, ("ytd", "year to date")))
_OF_PERIOD = tuple(map(folded_words, ("current", "this period")))
_NUMBERED = re.compile(r"^\d{1,2}[a-z]?[.)]? +\S")
_TWO = re.compile(r"[^\W\d_]{2,}[^/]* ?/ ?[^\W\d_]{2,}")
# Fraction of the captions or pages that must show a layout.
_LAYOUT_SHARE = 1 / 3


def guess_types(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the types that most values have; empty if they have none in common."""
    if not texts:
        return ()
    for kind, find in _FINDERS.items():
        count = sum(_is_whole(find, text) for text in texts)
        if kind == "CURRENCY":
            # A round amount among others, such as 120, is an amount, too.
            numeric = sum(_is_whole(find_numbers, text) for text in texts)
            count = max(count, numeric) if 2 * count >= len(texts) else 0
        if count >= _MOST_VALUES * len(texts):
            return (kind,)
    addresses = sum(normalized_address(text) is not None for text in texts)
    return ("ADDRESS",) if addresses >= _MOST_VALUES * len(texts) else ()


def _is_whole(find: Callable[[str], tuple[Span, ...]], text: str) -> bool:
    """Return whether a text is one value of `find`, apart from currency and punctuation."""
    spans = find(text)
    return len(spans) == 1 and len(spans[0].text) >= len(text.strip(" $£€¥()-.,:"))


def layout_hints(examples: Sequence[LearningExample], captions: Sequence[str]) -> tuple[str, ...]:
    """Return the layout hints (see LAYOUTS) that apply to most captions or examples."""
    hints = []
    if sum(bool(_NUMBERED.match(text)) for text in captions) > _LAYOUT_SHARE * len(captions):
        hints.append("numberedLines")
    paid = sum(any(map(each.has, _OF_YEAR)) and any(map(each.has, _OF_PERIOD)) for each in examples)
    if paid > _LAYOUT_SHARE * len(examples):
        hints.append("payColumns")
    if sum(bool(_TWO.search(text)) for text in captions) > _LAYOUT_SHARE * len(captions):
        hints.append("twoLanguages")
    return tuple(hints)
