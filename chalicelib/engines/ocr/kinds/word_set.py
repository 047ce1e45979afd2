"""Word lists as they are written in the modules of this package."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that are separated by spaces or line breaks."""
    return frozenset(words.split())
