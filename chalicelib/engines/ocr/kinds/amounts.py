"""Finds amounts of money and plain numbers in a line."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.phone import correct_digits
from chalicelib.engines.ocr.kinds.span import Span, without_overlaps

CURRENCY_CODES = (
    r"(?:USD|EUR|GBP|CAD|AUD|NZD|CHF|JPY|CNY|INR|SGD|HKD|MYR|RM|Rs\.?|US\$|C\$|A\$|S\$|ZAR|KRW"
    r"|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BRL|MXN|ARS|CLP|COP|AED|SAR|ILS|TRY|TL|THB|IDR|Rp\.?|PHP"
    r"|KES|NGN|UAH|zł|Kč|Ft|lei|kr\.?|R\$)"
)
CURRENCY_SIGNS = "[$£€¥₹₺₩₪₦₱₫₴₽฿]"
# Groups of digits in India: 1,17,859.00; with points: 1.250.000; then the other notations.
_DIGITS = (
    r"(?:\d{1,2}(?:,\d\d){1,6},\d{3}(?:\.\d{1,4})?|\d{1,3}(?:\.\d{3}){2,6}(?![.,]?\d)"
    r"|\d{1,3}(?:[' ]\d{3}){1,6},\d\d(?!\d)|\d{1,3}(?:[,' ]\d{3}){1,6}(?:\.\d{1,4})?"
    r"|\d{1,3}(?:\.\d{3}){1,6},\d{1,4}"
    r"|\d{1,18}(?:[.,]\d{1,6})?)"
)
# A dash stands for no cents: Rs. 1,204/- and € 1.204,-.
_DASH = r"(?:/-|,-)?"
_MONEY: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        re.compile(
            rf"[\-(]?(?:{CURRENCY_CODES} ?|\b[A-Z]{{1,2}}(?=\$))?{CURRENCY_SIGNS} ?-?{_DIGITS}"
            rf"{_DASH}\)?(?!\d)"
        ),
        0.99,
    ),
    (re.compile(rf"\b{CURRENCY_CODES} ?-?{_DIGITS}{_DASH}(?!\d)"), 0.97),
    # The rand is written as a letter, so only amounts with cents count.
    (re.compile(r"\bR ?-?\d{1,3}(?:[, ]?\d{3}){0,6}[.,]\d\d(?![\d.,])"), 0.97),
    (
        re.compile(rf"(?<![\d.,])-?{_DIGITS}{_DASH} ?(?:{CURRENCY_SIGNS}|{CURRENCY_CODES}(?!\w))"),
        0.95,
    ),
    (
        re.compile(
            r"(?<![\w.,/\-])\(?-?(?:\d{1,3}(?:,\d{3}){0,6}|\d{1,2}(?:,\d\d){1,6},\d{3})\.\d\d[)-]?"
            r"(?![\w/%]|[.,\-]\d)"
        ),
        0.8,
    ),
    # In a longer text, 2 150.00 is a quantity and a price.
    (re.compile(r"^-?\d{1,3}(?: \d{3}){1,6}\.\d\d$"), 0.8),
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
