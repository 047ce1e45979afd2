"""Finds dates and times of day in the formats of forms and letters."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.phone import correct_digits
from chalicelib.engines.ocr.kinds.span import WORD_LISTS, Span, without_accents, without_overlaps


def _month_numbers() -> dict[str, int]:
    """Return the number of each month's name, in lower case and with a dot if abbreviated.

    Engines miss accents, so each name is included without its accents, too.
    """
    names = {name: n for n in range(1, 13) for name in WORD_LISTS[f"month {n}"].split()}
    return {without_accents(name): number for name, number in names.items()} | names


_NUMBERS = _month_numbers()
_NAMES = sorted(_NUMBERS, key=len, reverse=True)
_MONTHS = rf"(?:(?:{'|'.join(name for name in _NAMES if name[-1] != '.')})\.?)"
# Some abbreviations, such as set and out, are words, so they need a day and a whole year.
_SHORT_MONTHS = rf"(?:(?:{'|'.join(name[:-1] for name in _NAMES if name[-1] == '.')})\.?)"
_DAY = r"(?P<day>[0-3]?\d)"
_DAY_OF = rf"{_DAY}(?:st|nd|rd|th|er|[.º°])?(?: (?:of|de|di))?"
_MONTH = r"(?P<month>[01]?\d)"
_YEAR = r"(?P<year>(?:1[6-9]|20|21)\d\d)"
_SHORT_YEAR = r"(?P<year>(?:(?:1[6-9]|20|21)\d\d|'?\d\d))"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?[.,]{0,2} {1,2})?"
_CLOCK = (
    r"(?:[01]?\d|2[0-3])(?: ?[:.] ?|h)[0-5]\d(?: ?: ?[0-5]\d(?:[.,]\d{1,6})?)?(?: ?uhr\b)?"
    r"(?: ?[ap]\.? ?m\b\.?)?(?: ?(?:utc|gmt|[ecmp][sd]?t|cest|cet|bst|ist|jst|z)\b)?"
    r"(?: ?[+\-][01]\d:?[0-5]\d)?|(?:1[0-2]|0?[1-9]) ?[ap]\.? ?m\b\.?"
)
_TIME = re.compile(r"(?<![\d.:/\-])(?:" + _CLOCK + r")(?![\d:]|\.\d)", re.IGNORECASE)
_TIME_AFTER = re.compile(
    r"(?: ?T ?|[ ,;@]{1,3}(?:(?:at|um|à|@|-) {1,2})?)(?:" + _CLOCK + r")(?![\d:])", re.IGNORECASE
)


def _pattern(body: str) -> re.Pattern[str]:
    """Compile a pattern that does not match within a longer number or word."""
    return re.compile(rf"(?<![\w/])(?<!\d[.\-]){body}(?![\w/])(?![.\-]\d)", re.IGNORECASE)


_GAP = r"[ .,\-/]{0,3}"
_FORMS: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        re.compile(
            rf"(?<![\w/])(?<!\d[.\-]){_YEAR} ?(?P<mark>[\-/.]) ?{_MONTH} ?(?P=mark) ?{_DAY}"
            r"(?:(?=T\d)|(?![\w/])(?![.\-]\d))"
        ),
        0.98,
    ),
    (_pattern(rf"{_WEEKDAY}{_MONTH} ?(?P<mark>[/.\-]) ?{_DAY} ?(?P=mark) ?{_SHORT_YEAR}"), 0.97),
    (_pattern(rf"{_DAY} ?(?P<mark>[/.\-]) ?{_MONTH} ?(?P=mark) ?{_SHORT_YEAR}"), 0.96),
    (
        _pattern(
            rf"{_WEEKDAY}{_MONTHS}{_GAP}{_DAY}(?:st|nd|rd|th)?"
            rf"(?:[ .,\-/']{{1,4}}|(?<=\D)){_SHORT_YEAR}"
        ),
        0.99,
    ),
    (
        _pattern(
            rf"{_WEEKDAY}{_DAY_OF}{_GAP}{_MONTHS}"
            rf"(?: del? |[ .,\-/']{{0,4}}){_SHORT_YEAR}"
        ),
        0.99,
    ),
    (_pattern(rf"{_DAY_OF}{_GAP}{_SHORT_MONTHS}(?: del? |[ .,\-/]{{1,2}}){_YEAR}"), 0.98),
    (_pattern(rf"{_YEAR} ?年 ?{_MONTH} ?月 ?{_DAY} ?日"), 0.98),
    (_pattern(rf"{_YEAR}{_GAP}{_MONTHS}{_GAP}{_DAY}"), 0.95),
    (_pattern(rf"{_MONTHS}[ .,\-/']{{1,3}}{_YEAR}"), 0.9),
    (_pattern(rf"{_MONTHS} ?'\d\d"), 0.7),
    (_pattern(rf"{_DAY_OF} {{1,2}}{_MONTHS}"), 0.7),
    (_pattern(rf"{_MONTHS} {{1,2}}{_DAY}(?:st|nd|rd|th)?"), 0.7),
    (_pattern(rf"(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d){_YEAR}"), 0.6),
    (_pattern(rf"{_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)"), 0.6),
    (_pattern(r"(?P<month>0?[1-9]|1[0-2]) ?/ ?(?P<year>(?:19|20)\d\d)"), 0.6),
)
_IS_TIME = re.compile(r":|h|m\W*$", re.IGNORECASE)
_LAST_DAY = 31
_LAST_MONTH = 12
# Confidence of a time of day without a date.
TIME_ALONE = 0.5


def find_dates(text: str) -> tuple[Span, ...]:
    """Return the dates and times of day in a line, in order; a date includes a time after it."""
    corrected = correct_digits(text)
    if not any(map(str.isdecimal, corrected)):
        return ()
    spans = [
        _with_time(corrected, match.span(), confidence)
        for pattern, confidence in _FORMS
        for match in pattern.finditer(corrected)
        if _is_in_calendar(match)
    ]
    spans += [
        Span(match.start(), match.end(), match.group(), TIME_ALONE)
        for match in _TIME.finditer(corrected)
        if _IS_TIME.search(match.group())
    ]
    return without_overlaps(spans)


def month_number(word: str) -> int:
    """Return the number of a month, given its name or abbreviation; 0 for other words."""
    plain = without_accents(word)
    return _NUMBERS.get(plain, _NUMBERS.get(f"{plain}.", 0))


def _with_time(text: str, bounds: tuple[int, int], confidence: float) -> Span:
    """Return the span of a date, extended by a time of day that follows it."""
    start, end = bounds
    time = _TIME_AFTER.match(text, end)
    if time is not None:
        end = time.end()
        confidence = min(0.99, confidence + 0.01)
    return Span(start, end, text[start:end], confidence)


def _is_in_calendar(match: re.Match[str]) -> bool:
    """Return whether the day of a matched date is at most 31, and the month at most 12."""
    parts = match.groupdict()
    day, month = parts.get("day"), parts.get("month")
    return (day is None or 1 <= int(day) <= _LAST_DAY) and (
        month is None or 1 <= int(month) <= _LAST_MONTH
    )
