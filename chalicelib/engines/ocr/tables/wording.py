"""What the text of a cell looks like, and that of running prose."""

from __future__ import annotations

_WORDS = 6
_CHARACTERS = 38


def is_wordy(text: str) -> bool:
    """Tell whether a piece is long enough to be a line of running text."""
    letters = sum(character.isalpha() for character in text)
    return (len(text.split()) >= _WORDS or len(text) > _CHARACTERS) and (
        letters > 0.5 * len(text.replace(" ", ""))
    )


def is_label(text: str) -> bool:
    """Tell whether a text announces the one beside it."""
    return text.rstrip().endswith(":")
