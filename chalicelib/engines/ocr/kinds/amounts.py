"""Finds amounts of money and plain numbers in a line."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.phone import correct_digits
from chalicelib.engines.ocr.kinds.span import Span, without_overlaps

CURRENCY_CODES = (
    r"(?:USD|EUR|GBP|CAD|AUD|NZD|CHF|JPY|CNY|INR|SGD|HKD|MYR|RM|Rs\.?|US\$|C\$|A\$|S\$"
    r"|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|AED|TRY|TL|zł|Kč|kr\.?|R\$)"
)
_SIGNS = r"[$£€¥₹₺]"
_DIGITS = (
    r"(?:\d{1,3}(?:[' ]\d{3}){1,6},\d\d(?!\d)|\d{1,3}(?:[,' ]\d{3}){1,6}(?:\.\d{1,4})?"
    r"|\d{1,3}(?:\.\d{3}){1,6},\d{1,4}"
    r"|\d{1,18}(?:[.,]\d{1,6})?)"
)
_MONEY: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(rf"[\-(]?(?:{CURRENCY_CODES} ?)?{_SIGNS} ?-?{_DIGITS}(?:/-)?\)?(?!\d)"), 0.99),
    (re.compile(rf"\b{CURRENCY_CODES} ?-?{_DIGITS}(?!\d)"), 0.97),
    (re.compile(rf"(?<![\d.,])-?{_DIGITS} ?(?:{_SIGNS}|{CURRENCY_CODES}\b)"), 0.95),
    (
        re.compile(r"(?<![\w.,/\-])\(?-?\d{1,3}(?:,\d{3}){0,6}\.\d\d[)-]?(?![\w/%]|[.,\-]\d)"),
        0.8,
    ),
    (re.compile(r"(?<![\w.,/\-])-?\d{1,12}\.\d\d-?(?![\w/%]|[.,\-]\d)"), 0.75),
)
# The parts of 05/31 are no numbers, but 31.25 is one in 31.25/hr.
_NUMBER = re.compile(rf"(?<![\w.,])(?<!\d/)[+\-]?{_DIGITS}(?: ?%)?(?!\w|[.,]?\d*/\d)")


def find_money(text: str) -> tuple[Span, ...]:
    """Return the amounts of money in a line, in order.

    An amount has a currency or exactly two decimals. The span of an amount includes its currency,
    minus sign and brackets.
    """
    corrected = correct_digits(text)
    return without_overlaps(
        Span(match.start(), match.end(), match.group().strip(), confidence)
        for pattern, confidence in _MONEY
        for match in pattern.finditer(corrected)
    )


def find_numbers(text: str) -> tuple[Span, ...]:
    """Return the numbers in a line, in order; digits inside words do not count."""
    corrected = correct_digits(text)
    return tuple(
        Span(match.start(), match.end(), match.group().strip(), 0.9)
        for match in _NUMBER.finditer(corrected)
    )
