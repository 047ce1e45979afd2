"""What can go wrong with an emulator, said so that a person can mend it."""

from __future__ import annotations


class EmulatorError(Exception):
    """An emulator was not installed or does not run; the text is one line with the remedy."""
