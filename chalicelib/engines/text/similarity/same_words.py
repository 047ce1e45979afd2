"""Finds texts with the same words, ignoring case, spaces and punctuation.

Such texts mean the same to a person who checks labels, but their vectors differ. They must be in
the same part of the split. If their labels differ, they are reported as contradictions.
"""

from __future__ import annotations

import unicodedata

_FOLDED_CHARACTERS = 2_000
_IGNORED_KINDS = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Pd", "Pi", "Pf"))
# Brackets, colons and signs stay: smileys and numbers are made of them.
_IGNORED_MARKS = frozenset(".,;!?¡¿…\"'`´·•。、")


class _Plain(dict[int, str]):
    """Table for `str.translate` that replaces ignored characters by spaces; filled on demand."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        is_ignored = kind in _IGNORED_KINDS or character in _IGNORED_MARKS
        self[code] = " " if is_ignored else character
        return self[code]


_PLAIN = _Plain()


def same_words(text: str) -> str:
    """Return the words of a text in lower case; if it has no words, return the text unchanged."""
    folded = unicodedata.normalize("NFKC", text[:_FOLDED_CHARACTERS]).casefold()
    words = " ".join(folded.translate(_PLAIN).split())
    # Folding is slow, so the rest of a long text counts as it is.
    return words + text[_FOLDED_CHARACTERS:] or text
