"""Finds telephone numbers: international, North American, and those of other countries.

Letters that are misread digits (O, l) are corrected. Dates, ZIP codes, social security numbers,
amounts and internet addresses are excluded.
"""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.span import Span

_SLIPS = str.maketrans({"O": "0", "o": "0", "Q": "0", "l": "1", "I": "1", "S": "5", "B": "8"})
_SLIPPED = re.compile(r"(?<![A-Za-z0-9])[0-9OoQlISB]{2,14}(?![A-Za-z0-9])")
_SLIPPED_CODE = re.compile(r"(?<=\+)[0-9OolI]{1,3}(?![A-Za-z0-9])")
_DASHES = str.maketrans(dict.fromkeys("–—‐‑−~", "-") | dict.fromkeys("·•∙", "."))

_EXTENSION = (
    r"(?:[ ,;(]{0,3}(?:\b(?:extension|extn|ext|ex|durchwahl|poste|anexo|ramal|int)\b|"
    r"(?<=[\d )])x|#)"
    r"[.: ]{0,3}\d{1,6}\)?)?"
)
_GAP = r"[ .\-]{0,3}"
_INTERNATIONAL = re.compile(
    r"(?:\(\+ ?\d{1,3}\)|\+ ?\d{1,3}|(?<![\d.\-])(?<!\d:)00 ?[1-9]\d{0,2}(?=[ \-(/.]))"
    r"(?: ?/ ?(?=\d)|" + _GAP + r")"
    r"(?:\( ?0? ?\d{0,5} ?\)" + _GAP + r"|\[0\] ?)?"
    r"\d{0,11}(?:[ .\-/]{1,3}\(?\d{1,8}\)?){0,6}" + _EXTENSION,
    re.IGNORECASE,
)
_NORTH_AMERICAN = re.compile(
    r"(?<![\d+])(?<!\d[.\-])(?:\(?\b1\)?[ .\-/]{0,3})?"
    r"(?:\( ?[2-9]\d\d ?\)[ .\-/]{0,3}\d{3} ?[ .\-]? ?|"
    r"[2-9]\d\d ?[.\-/ ] ?\d{3} ?[ .\-] ?)\d{4}(?![\d])(?![.\-]\d)" + _EXTENSION,
    re.IGNORECASE,
)
_TEN_DIGITS = re.compile(r"(?<![\d+.\-])1?[2-9]\d\d\d{7}(?!\d)" + _EXTENSION, re.IGNORECASE)
_LETTERS = re.compile(
    r"(?<![\d+])(?:1[ .\-])?\(?8[0-9]{2}\)?[ .\-][A-Z0-9]{2,8}(?:[ \-][A-Z0-9]{2,7}){0,2}\b"
)
_TRUNK = re.compile(
    r"(?<![\d+])(?<!\d[.\-/:])(?:\(0\d{1,5}\)|0\d{1,5})[ .\-/]{0,3}"
    r"\d{1,9}(?:[ .\-/]{1,2}\d{1,8}){0,6}" + _EXTENSION,
    re.IGNORECASE,
)
_GROUPS = re.compile(
    r"(?<![\d+])(?<!\d[.\-/:])\(?\d{2,6}\)?(?:[ .\-]{1,2}\d{2,8}){1,5}(?!\d)" + _EXTENSION,
    re.IGNORECASE,
)
_SEVEN = re.compile(r"(?<![\d.\-/])\d{3} ?[\-.] ?\d{4}(?![\d\-.]\d|\d)" + _EXTENSION, re.IGNORECASE)
_PAYMENT_CARD = re.compile(r"(?:\d{4}[ -]){3}\d{1,4}")
_NOT_A_PHONE = (
    re.compile(r"\d{5} ?- ?\d{4}"),
    re.compile(r"\d{3}-\d{2}-\d{4}"),
    re.compile(r"\d{2}-\d{7}"),
    re.compile(r"\d{1,2}[./\- ]{1,2}\d{1,2}[./\- ]{1,2}(?:19|20)?\d\d"),
    re.compile(r"(?:19|20)\d\d[./\- ]{1,2}\d{1,2}[./\- ]{1,2}\d{1,2}"),
    re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"),
    re.compile(r"(?:19|20)\d\d ?- ?(?:19|20)\d\d"),
    re.compile(r"\d{1,3}(?:[ .]\d{3}){1,4}"),
    # Not phone numbers: amounts in a row, and numbers padded with zeros. A phone number can begin
    # with 00, followed by a country code.
    re.compile(r"\d{1,4}\.\d\d(?: \d{1,4}\.\d\d){1,5}"),
    re.compile(r"000.{0,40}|00\d{1,8}"),
)
_DIGITS_AT_MOST = 15
_CLEAR = 0.9
_ENOUGH_BEFORE_SLASH = 7
_LETTER_DIGITS = (10, 12)
_FORMS: tuple[tuple[re.Pattern[str], int, float], ...] = (
    (_INTERNATIONAL, 7, 0.99),
    (_NORTH_AMERICAN, 10, 0.99),
    (_LETTERS, 0, 0.9),
    (_TRUNK, 8, 0.9),
    (_TEN_DIGITS, 10, 0.8),
    (_GROUPS, 7, 0.7),
    (_SEVEN, 7, 0.6),
)


def find_phones(text: str) -> tuple[Span, ...]:
    """Return the phone numbers in a line, in order, with extensions, without labels like `Tel.`."""
    corrected = correct_digits(text).translate(_DASHES)
    spans: list[Span] = []
    for pattern, fewest, confidence in _FORMS:
        for match in pattern.finditer(corrected):
            span = _span_of(text, corrected, match, fewest, confidence)
            if span is not None and not any(span.overlaps(other) for other in spans):
                spans.append(span)
                corrected = (
                    corrected[: span.start] + "\0" * (span.end - span.start) + corrected[span.end :]
                )
    return tuple(sorted(spans, key=lambda span: span.start))


def correct_digits(text: str) -> str:
    """Replace letters that are misread digits inside numbers; the length stays the same."""
    return _SLIPPED_CODE.sub(_as_digits, _SLIPPED.sub(_as_digits, text))


def digits_of(text: str) -> str:
    """Return the digits of a text, including letters that are misread digits."""
    return "".join(char for char in correct_digits(text) if char.isdecimal())


def _as_digits(match: re.Match[str]) -> str:
    """Replace letters by similar digits if at least half of a word's characters are digits."""
    word = match.group()
    if 2 * sum(char.isdecimal() for char in word) < len(word):
        return word
    return word.translate(_SLIPS)


def _span_of(
    text: str, corrected: str, match: re.Match[str], fewest: int, confidence: float
) -> Span | None:
    """Return the span of a match, cut to one phone number; None if it is not a phone number."""
    start, end = match.span()
    found = _one_number(match.group())
    end = start + len(found)
    if not _is_number(found, corrected, (start, end), fewest, confidence):
        return None
    shown = "".join(
        new if old.isalpha() and new.isdecimal() else old
        for old, new in zip(text[start:end], corrected[start:end], strict=True)
    )
    return Span(start, end, shown, confidence)


def _one_number(match: str) -> str:
    """Cut a match to its first phone number if it contains two."""
    count = 0
    for place, char in enumerate(match):
        count += char.isdecimal()
        if char.isalpha() or char == "#":
            break
        if count > _DIGITS_AT_MOST:
            match = match[: _last_gap(match, place)]
            break
    # A slash between spaces separates two numbers, unless only an area code is before the slash.
    head, slash, _ = match.partition(" / ")
    if slash and sum(char.isdecimal() for char in head) >= _ENOUGH_BEFORE_SLASH:
        match = head
    closed = match.rstrip(" .-/,;(")
    return closed if closed.count(")") <= closed.count("(") else closed.rstrip(")")


def _last_gap(match: str, place: int) -> int:
    """Return the index of the last separator before `place`; `place` if `match` has none there."""
    gap = max(match.rfind(mark, 0, place) for mark in " .-/")
    return gap if gap > 0 else place


def _is_number(
    match: str, corrected: str, bounds: tuple[int, int], fewest: int, confidence: float
) -> bool:
    """Return whether a match is a phone number, and not a similar date, code or amount."""
    count = sum(char.isdecimal() for char in match)
    if count < fewest or not match or _PAYMENT_CARD.match(corrected, bounds[0]):
        return False
    before = corrected[max(0, bounds[0] - 2) : bounds[0]]
    after = corrected[bounds[1] : bounds[1] + 3]
    if before[-1:] in set("$£€¥₹#,/_=&") or before in ("$ ", "£ ", "€ "):
        return False
    # A label may touch its number: "F503.555.0143".
    if before[-1:].isalnum() and (confidence < _CLEAR or before[-1:].isdecimal()):
        return False
    # A colon and digits after it are the minutes of a time.
    if after[:1] in set("%@_") or (after[:1] in set(",:") and after[1:2].isdecimal()):
        return False
    if fewest == 0:
        return (
            any(char.isalpha() for char in match)
            and _LETTER_DIGITS[0] <= (sum(char.isalnum() for char in match)) <= _LETTER_DIGITS[1]
        )
    if match.startswith(("+", "(+")):
        return True
    return not any(pattern.fullmatch(match) for pattern in _NOT_A_PHONE)
