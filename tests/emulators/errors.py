"""Errors of an emulator, each with what a person can do to fix it."""

from __future__ import annotations


class EmulatorError(Exception):
    """An emulator was not installed or does not run; the text is one line with the remedy."""
