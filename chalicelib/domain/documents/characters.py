"""The characters that OCR answers with: those of English documents, or of western Europe's.

The recogniser's alphabets are cut to them at installation, and what other sources read (the second
engine) is turned into them by `to_documented` and `to_latin`.
"""

from __future__ import annotations

import unicodedata
from typing import Final

# English documents: CHARACTERS.
DOCUMENTED: Final = "documented"
# Documents in western European languages and Polish: LATIN_CHARACTERS.
LATIN: Final = "latin"
# Letters that an answer may have, the default first.
ALPHABETS = (DOCUMENTED, LATIN)

# Letters, digits and punctuation.
ASCII = "".join(map(chr, range(33, 127)))
# Further symbols of English documents.
SYMBOLS = "£≈€¢¥©®™°•·–—‘’“”×÷±§¶¼½¾²³µ"
# Separates words.
SPACE = " "
# All of them, each once; the order is that of the recogniser's alphabet behind the blank.
CHARACTERS = ASCII + SYMBOLS + SPACE

# Letters of German, French, Spanish, Portuguese, Italian, Dutch, Polish and the Scandinavian
# languages beyond A to Z.
LATIN_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿŒœŸĄąĆćĘęŁłŃńŚśŹźŻż"
# Their signs, as far as the recogniser knows them: it has no low or single angle quotation marks
# and no inverted exclamation mark.
LATIN_SIGNS = "«»¿ªº"
# All of the larger set, each once; the order is that of the recogniser's second alphabet.
LATIN_CHARACTERS = CHARACTERS[:-1] + LATIN_LETTERS + LATIN_SIGNS + SPACE

_KEPT = frozenset(CHARACTERS)
_KEPT_LATIN = frozenset(LATIN_CHARACTERS)
_STRUCK = "\N{COMBINING LONG SOLIDUS OVERLAY}"
# What Unicode's own decomposition does not lead to a character of the set.
_LOOK_ALIKES = {
    "‐": "-",
    "‑": "-",
    "‒": "–",
    "―": "—",
    "−": "-",
    "‚": ",",
    "‛": "‘",
    "„": "“",
    "‟": "“",
    "′": "'",
    "″": '"',
    "‹": "<",
    "›": ">",
    "«": "“",
    "»": "”",
    "⁄": "/",
    "∙": "·",
    "⋅": "·",
    "●": "•",
    "▪": "•",
    "μ": "µ",
    "ß": "ss",
    "Æ": "AE",
    "æ": "ae",
    "Œ": "OE",
    "œ": "oe",
    "Ø": "O",
    "ø": "o",
    "Ł": "L",
    "ł": "l",
    "ı": "i",
}


def to_documented(text: str) -> str:
    """Bring a text to the documented characters.

    Accents, ligatures and full-width forms become their plain letters, look-alikes of
    punctuation the punctuation of the set; everything else is left out.

    Args:
        text: any text of one line.

    Returns:
        Words of documented characters separated by single spaces; empty when none is left.
    """
    return _reduced(text, _KEPT)


def to_latin(text: str) -> str:
    """Bring a text to LATIN_CHARACTERS, as `to_documented` does to the smaller set.

    A letter and its accent that are two characters become one.
    """
    return _reduced(unicodedata.normalize("NFC", text), _KEPT_LATIN)


def _reduced(text: str, kept: frozenset[str]) -> str:
    """Bring a text to the characters of a set."""
    return " ".join("".join(_stand_in(character, kept) for character in text).split())


def _stand_in(character: str, kept: frozenset[str]) -> str:
    """Return what stands for one character: itself, some of the set, a space or nothing."""
    if character in kept:
        return character
    if character.isspace():
        return SPACE
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    parts = unicodedata.normalize("NFKD", character)
    if _STRUCK in parts:  # a stroke negates a sign: without it the meaning turns round
        return ""
    return "".join(filter(kept.__contains__, parts)).strip()
