"""What is left of a text when capitals, spaces and punctuation are not looked at.

Encoders see a question mark; a person who checks labels does not. Such texts stay on one side of
the split, and under two labels they are contradictions.
"""

from __future__ import annotations

import unicodedata

_FOLDED_CHARACTERS = 2_000
_IGNORED_KINDS = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Pd", "Pi", "Pf"))
# Brackets, colons and signs stay: smileys and numbers are made of them.
_IGNORED_MARKS = frozenset(".,;!?¡¿…\"'`´·•。、")


class _Plain(dict[int, str]):
    """What stands for a character, worked out once; never larger than Unicode."""

    def __missing__(self, code: int) -> str:
        """Find out whether a character counts."""
        character = chr(code)
        kind = unicodedata.category(character)
        is_ignored = kind in _IGNORED_KINDS or character in _IGNORED_MARKS
        self[code] = " " if is_ignored else character
        return self[code]


_PLAIN = _Plain()


def same_words(text: str) -> str:
    """Return what texts of the same words have in common.

    Args:
        text: any text; every mark beyond its first 2,000 characters counts.

    Returns:
        Its words in small letters, one space apart; the text itself when it has none.
    """
    folded = unicodedata.normalize("NFKC", text[:_FOLDED_CHARACTERS]).casefold()
    words = " ".join(folded.translate(_PLAIN).split())
    return words + text[_FOLDED_CHARACTERS:] or text
