"""The characters that OCR answers with: those of English documents.

The recogniser's alphabet is cut to them at installation, and what other sources read (the second
engine) is turned into them by `to_documented`.
"""

from __future__ import annotations

import unicodedata

ASCII = "".join(map(chr, range(33, 127)))
"""Letters, digits and punctuation."""
SYMBOLS = "£≈€¢¥©®™°•·–—‘’“”×÷±§¶¼½¾²³µ"
"""Further symbols of English documents."""
SPACE = " "
"""Separates words."""
CHARACTERS = ASCII + SYMBOLS + SPACE
"""All of them, each once; the order is that of the recogniser's alphabet behind the blank."""

_KEPT = frozenset(CHARACTERS)
_STRUCK = "\N{COMBINING LONG SOLIDUS OVERLAY}"
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
"""What Unicode's own decomposition does not lead to a character of the set."""


def to_documented(text: str) -> str:
    """Bring a text to the documented characters.

    Accents, ligatures and full-width forms become their plain letters, look-alikes of
    punctuation the punctuation of the set; everything else is left out.

    Args:
        text: any text of one line.

    Returns:
        Words of documented characters separated by single spaces; empty when none is left.
    """
    return " ".join("".join(map(_documented_character, text)).split())


def _documented_character(character: str) -> str:
    """Return what stands for one character: itself, some of the set, a space or nothing."""
    if character in _KEPT:
        return character
    if character.isspace():
        return SPACE
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    parts = unicodedata.normalize("NFKD", character)
    if _STRUCK in parts:  # a stroke negates a sign: without it the meaning turns round
        return ""
    return "".join(filter(_KEPT.__contains__, parts)).strip()
