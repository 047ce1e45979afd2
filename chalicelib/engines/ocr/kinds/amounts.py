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
_DASHES = {ord("−"): "-", ord("–"): "-"}
CURRENCY_SIGNS = "[$£€¥₹₺₩₪₦₱₫₴₽฿]"
# Groups of digits in India: 1,17,859.00; with points: 1.250.000; then the other notations.
_DIGITS = (
    r"(?:\d{1,2}(?:,\d\d){1,6},\d{3}(?:\.\d{1,4})?|\d{1,3}(?:\.\d{3}){2,6}(?![.,]?\d)"
    r"|\d{1,3}(?:[' ]\d{3}){1,6},\d\d(?!\d)|\d{1,3}(?:[,' ]\d{3}){1,6}(?:\.\d{1,4})?"
    r"|\d{1,3}(?:\.\d{3}){1,6},\d{1,4}"
    r"|\d{1,18}(?:[.,]\d{1,6})?)"
)
# A sign or bracket; a sign with a space behind it only at the beginning, because 5 - 10 is a range.
_SIGN = r"(?:^[-+] |[-+(])?"
# A dash stands for no cents: Rs. 1,204/- and € 1.204,-; and a word or letter for zeros: $1.2M.
_MORE = (
    r"(?:/-|,-)?(?: ?(?:[kKM]|bn|[Mm]io\.?|[Mm]rd\.?|[Mm]illions?|[Bb]illions?|[Ll]akhs?"
    r"|[Cc]rores?)(?!\w))?"
)
# A bracket, a minus or the letters of a credit or debit.
_END = r"(?:\)|-(?=\s|$)| ?[CD][Rr]\b(?=\W*$))?"
_PLAIN = (
    r"(?<![\w.,/\-])" + _SIGN + r"(?:\d{1,3}(?:,\d{3}){0,6}|\d{1,2}(?:,\d\d){1,6},\d{3}|\d{1,12})"
    rf"\.\d\d(?!\d|[.,\-]\d){_END}(?![\w/%])"
)
_CODE_OR_SIGN = (
    rf"(?:(?:{CURRENCY_CODES} ?|\b[A-Z]{{1,2}}(?=\$))?{CURRENCY_SIGNS}|\b{CURRENCY_CODES})"
)
_MONEY: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(rf"{_SIGN}{_CODE_OR_SIGN} ?[-(]?{_DIGITS}{_MORE}(?!\d){_END}"), 0.99),
    # The rand is written as a letter, so only amounts with cents count.
    (re.compile(rf"{_SIGN}\bR ?-?\d{{1,3}}(?:[, ]?\d{{3}}){{0,6}}[.,]\d\d(?![\d.,]){_END}"), 0.97),
    (
        re.compile(
            rf"(?<![\d.,]){_SIGN}{_DIGITS}{_MORE} ?"
            rf"(?:{CURRENCY_SIGNS}|{CURRENCY_CODES}(?!\w)){_END}"
        ),
        0.95,
    ),
    (re.compile(_PLAIN), 0.8),
    # In a longer text, 2 150.00 is a quantity and a price.
    (re.compile(rf"^[-+]?\d{{1,3}}(?: \d{{3}}){{1,6}}\.\d\d{_END}$"), 0.8),
)
# The parts of 05/31 are no numbers, but 31.25 is one in 31.25/hr.
_NUMBER = re.compile(rf"(?<![\w.,])(?<!\d/)(?:^[-+] |[-+])?{_DIGITS}(?: ?%)?(?!\w|[.,]?\d*/\d)")


def find_money(text: str) -> tuple[Span, ...]:
    """Return the amounts of money in a line, in order.

    An amount has a currency or exactly two decimals. The span of an amount includes its currency,
    minus sign and brackets.
    """
    corrected = correct_digits(text).translate(_DASHES)
    return without_overlaps(
        Span(match.start(), match.end(), match.group().strip(), confidence)
        for pattern, confidence in _MONEY
        for match in pattern.finditer(corrected)
    )


def find_numbers(text: str) -> tuple[Span, ...]:
    """Return the numbers in a line, in order; digits inside words do not count."""
    corrected = correct_digits(text).translate(_DASHES)
    return tuple(
        Span(match.start(), match.end(), match.group().strip(), 0.9)
        for match in _NUMBER.finditer(corrected)
    )
