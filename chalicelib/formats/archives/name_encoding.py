"""Guesses the code page of names in a zip archive that are not UTF-8 and not marked as such.

Old tools write names in the code page of their system, without naming it. All names of an archive
come from one system, so one code page is guessed for all. If none is clearly best, code page 437 is
used, as the zip format defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

DEFAULT = "cp437"
# Bytes of names that are judged; more do not change the decision.
_JUDGED_BYTES = 64 * 1024
# How much better another encoding must explain the characters than the default.
_CLEARLY = 0.25
# Weight of western letters if at least half of all letters have accents.
_MANY_ACCENTS = 0.3
_KANA = re.compile("[\u3040-\u30ff]")
_CYRILLIC = re.compile("[\u0400-\u045f]")
_CHINESE = re.compile("[\u4e00-\u9fff]")
# Letters of the western languages whose systems used the code pages 437 and 1252.
_WESTERN = re.compile("[\u00c0-\u00ff\u0152\u0153\u0160\u0161\u017d\u017e\u0178]")
_ENDING = re.compile(rb"\.[A-Za-z0-9]{1,5}$")
_PLAIN = re.compile("[A-Za-z]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_MIXED = re.compile("[A-Za-z][\u0400-\u045f]|[\u0400-\u045f][A-Za-z]")


def guess_name_encoding(names: Iterable[bytes]) -> str:
    """Return the most likely code page of names that are not UTF-8; `cp437` if none is clear."""
    judged: list[bytes] = []
    size = 0
    for name in names:
        judged.append(_ENDING.sub(b"", name))  # nearly all files end in plain letters
        size += len(name)
        if size > _JUDGED_BYTES:
            break
    if not judged:
        return DEFAULT
    scores = {encoding: _score(judged, encoding) for encoding in _LIKELINESS}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= scores[DEFAULT] + _CLEARLY else DEFAULT


def _score(names: list[bytes], encoding: str) -> float:
    """Return how likely a code page is for these names, up to 1; negative if it is impossible."""
    try:
        text = "/".join(name.decode(encoding) for name in names)
    except UnicodeDecodeError:
        return -1.0
    others = len(_NOT_ASCII.findall(text))
    return _LIKELINESS[encoding](text) / others if others else 0.0


def _japanese(text: str) -> float:
    # Kanji of the first level, and kana; half-width kana are what other encodings look like.
    kanji = sum(0x88 <= _lead(char, "cp932") <= 0x97 for char in _CHINESE.findall(text))
    return len(_KANA.findall(text)) + kanji


def _chinese(text: str) -> float:
    # The 3,755 characters that nearly all text consists of have these first bytes.
    return sum(0xB0 <= _lead(char, "gb18030") <= 0xD7 for char in _CHINESE.findall(text))


def _cyrillic(text: str) -> float:
    return len(_CYRILLIC.findall(text)) - 2 * len(_MIXED.findall(text))


def _western(text: str) -> float:
    # Words have few accents; Cyrillic and Japanese bytes look like words of hardly anything else.
    accented, plain = len(_WESTERN.findall(text)), len(_PLAIN.findall(text))
    return accented * (_MANY_ACCENTS if accented >= plain else 1.0)


def _lead(char: str, encoding: str) -> int:
    try:
        coded = char.encode(encoding)
    except UnicodeEncodeError:
        return 0
    # Rare characters of GBK have the same first bytes and lower second ones.
    return coded[0] if encoding != "gb18030" or coded[1] >= 0xA1 else 0


_LIKELINESS: dict[str, Callable[[str], float]] = {
    DEFAULT: _western,
    "cp1252": _western,
    "cp932": _japanese,
    "gb18030": _chinese,
    "cp866": _cyrillic,
}
