"""The characters that OCR results may contain, for English and for western European documents.

The installation of the PP-OCR recogniser removes all other characters from its alphabets.
`to_documented` and `to_latin` convert text from other sources, such as Tesseract.
"""

from __future__ import annotations

import unicodedata
from typing import Final

# For English documents: CHARACTERS.
DOCUMENTED: Final = "documented"
# For documents in western European languages and Polish: LATIN_CHARACTERS.
LATIN: Final = "latin"
# Alphabets that a caller can choose, the default first.
ALPHABETS = (DOCUMENTED, LATIN)

# Letters, digits and punctuation.
ASCII = "".join(map(chr, range(33, 127)))
# Further symbols of English documents.
SYMBOLS = "£≈€¢¥©®™°•·–—‘’“”×÷±§¶¼½¾²³µ"
SPACE = " "
# In the order of the recogniser's alphabet, whose first entry is the CTC blank.
CHARACTERS = ASCII + SYMBOLS + SPACE

# Letters beyond A to Z of German, French, Spanish, Portuguese, Italian, Dutch, Polish and the
# Scandinavian languages.
LATIN_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿŒœŸĄąĆćĘęŁłŃńŚśŹźŻż"
# Signs of these languages that the recogniser knows. It does not know low or single angle quotation
# marks or the inverted exclamation mark.
LATIN_SIGNS = "«»¿ªº"
# In the order of the recogniser's second alphabet.
LATIN_CHARACTERS = CHARACTERS[:-1] + LATIN_LETTERS + LATIN_SIGNS + SPACE

_KEPT = frozenset(CHARACTERS)
_KEPT_LATIN = frozenset(LATIN_CHARACTERS)
_STRUCK = "\N{COMBINING LONG SOLIDUS OVERLAY}"
# Replacements that Unicode's own decomposition does not give.
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
    """Convert a line of text to the characters in CHARACTERS.

    Letters with accents, ligatures and full-width forms become plain letters. Punctuation becomes a
    similar character of CHARACTERS. Everything else is dropped.

    Returns:
        Words separated by single spaces; empty if nothing is left.
    """
    return _reduced(text, _KEPT)


def to_latin(text: str) -> str:
    """Convert a line of text to characters in LATIN_CHARACTERS, by the rules of `to_documented`."""
    # NFC joins a letter and its accent, which may be two characters, into one of the set.
    return _reduced(unicodedata.normalize("NFC", text), _KEPT_LATIN)


def _reduced(text: str, alphabet: frozenset[str]) -> str:
    return " ".join("".join(_stand_in(character, alphabet) for character in text).split())


def _stand_in(character: str, alphabet: frozenset[str]) -> str:
    """Return a character of `alphabet` unchanged; replace another character by a similar one.

    White space becomes a space. If `alphabet` has no similar character, return an empty string.
    """
    if character in alphabet:
        return character
    if character.isspace():
        return SPACE
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    parts = unicodedata.normalize("NFKD", character)
    if _STRUCK in parts:  # a stroke negates a sign, so dropping it would reverse the meaning
        return ""
    return "".join(filter(alphabet.__contains__, parts)).strip()
