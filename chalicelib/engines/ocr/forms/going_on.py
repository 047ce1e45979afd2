"""Whether the text of a value asks for a next line."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.engines.ocr.kinds.address import address_sureness
from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.mail import find_mails
from chalicelib.engines.ocr.kinds.phone import find_phones
from chalicelib.engines.ocr.kinds.word_set import word_set

_FINDERS = (find_money, find_numbers, find_dates, find_phones, find_mails)
_WHOLE = 0.9
"""Share of a line that is of a kind when the line is nothing else."""
_LONGEST = 120
_STREET = 0.5
_OPEN_MARKS = (",", "-", "–", "&", "/", "(", "+")
_OPEN_WORDS = word_set("and or of the for with to in at by a an und et y de from on")
_FEW_WORDS = 3
"""Words of a line above which small letters below it are the rest of its sentence."""


def is_closed(text: str) -> bool:
    """Return whether a line is one number, date, amount, telephone number or mail address."""
    if len(text) > _LONGEST:
        return False
    length = _WHOLE * len(text.strip(" .;"))
    return any(span.end - span.start >= length for find in _FINDERS for span in find(text))


def goes_on(line: str, below: str, types: Sequence[str]) -> bool:
    """Return whether a line of a value is only half of it, or one of an address.

    Args:
        line: the last line so far.
        below: the one below it.
        types: entity types of the key.
    """
    text = line.rstrip()
    if text.endswith(_OPEN_MARKS) or text.count("(") > text.count(")"):
        return True
    words = text.split()
    if words and words[-1].lower() in _OPEN_WORDS:
        return True
    if below[:1].islower() and len(words) > _FEW_WORDS:
        return True
    if "ADDRESS" in types:
        return True
    return max(address_sureness(line[:_LONGEST]), address_sureness(below[:_LONGEST])) >= _STREET
