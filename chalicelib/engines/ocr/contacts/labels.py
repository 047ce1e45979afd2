"""Recognises labels of phone numbers, mail and web addresses, such as `Tel` and `E-mail`."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.kinds.span import WORD_LISTS, word_set

PHONE, MOBILE_PHONE, FAX = "PHONE", "MOBILE_PHONE", "FAX"
NUMBERS = (PHONE, MOBILE_PHONE, FAX)
EMAIL, WEBSITE, ADDRESS, OTHER = "EMAIL", "WEBSITE", "ADDRESS", "OTHER"
PERSON, ORG, TITLE = "PERSON", "ORG", "TITLE"

_WORDS = {
    tag: word_set(WORD_LISTS[tag])
    for tag in (MOBILE_PHONE, FAX, PHONE, EMAIL, WEBSITE, ADDRESS, OTHER)
}
_TAGS = {word: tag for tag, words in reversed(_WORDS.items()) for word in words}
_TELEPHONE = word_set("t tel telephone phone ph p telefon fon tél teléfono telefono telefone")
_ORDER = (FAX, MOBILE_PHONE, PHONE)
_TOKEN = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ.\-'/]{0,24}|24/7")
_AFTER = re.compile(
    r"^[ .,]{0,2}[(\[\-–—]{0,2} ?(?P<word>[A-Za-z]{1,12})\.?(?: ?[)\]]|(?=$|[ ,;|/]))"
)


def tag_before(text: str) -> tuple[str | None, int]:
    """Return tag and start of a label at a text's end; None and `len(text)` if there is none."""
    window = max(0, len(text) - settings.LABEL_WINDOW)
    tokens = list(_TOKEN.finditer(text, window))
    names: list[str] = []
    start = edge = len(text)
    for token in reversed(tokens[-settings.LABEL_WORDS - 1 :]):
        between = text[token.end() : edge]
        known = _names_of(token.group())
        if not known or any(char.isalnum() for char in between) or not _is_free(text, token):
            break
        names += known
        start = edge = token.start()
    return (_strongest(names), start) if names else (None, len(text))


def tag_after(text: str) -> tuple[str | None, int]:
    """Return tag and end of a label at the beginning of a text; None and 0 if there is no label."""
    match = _AFTER.match(text[: settings.LABEL_WINDOW])
    if match is None:
        return None, 0
    word = match.group("word").lower()
    tag = _TAGS.get(word)
    if tag not in _ORDER or (len(word) == 1 and "(" not in match.group()):
        return None, 0
    return tag, match.end()


def is_label(text: str) -> bool:
    """Return whether a text consists only of label words: `Tel.`, `Direct Dial:`, `M`."""
    return label_tag(text) is not None


def label_tag(text: str) -> str | None:
    """Return the tag of a text that is a label; None for any other text."""
    words = text.split()
    if not 0 < len(words) <= settings.LABEL_WORDS or not all(map(_names_of, words)):
        return None
    return _strongest([name for word in words for name in _names_of(word)])


def _names_of(word: str) -> list[str]:
    """Return the label words within a word; `Tel/Fax` has two."""
    bare = word.lower().strip(".:;,()[]|-–•·#=*>»")
    if bare in _TAGS:
        return [bare]
    parts = [part.strip(".") for part in bare.split("/") if part.strip(".")]
    dotless = bare.replace(".", "")
    if len(parts) > 1 and all(part in _TAGS for part in parts):
        return parts
    return [dotless] if dotless in _TAGS else []


def _is_free(text: str, token: re.Match[str]) -> bool:
    if len(token.group().rstrip(".")) > 1:
        return True
    before = text[max(0, token.start() - 1) : token.start()]
    return not before.isalnum()


def _strongest(names: list[str]) -> str:
    """Return the tag of a label's words; a word for telephone makes it PHONE, even with fax."""
    tags = {_TAGS[name] for name in names}
    if OTHER in tags:
        return OTHER
    if FAX in tags and not _TELEPHONE.isdisjoint(names):
        return PHONE
    return next((tag for tag in _ORDER if tag in tags), _TAGS[names[0]])
