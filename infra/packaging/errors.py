"""The error of a build; its text says what to do."""

from __future__ import annotations


class PackageError(Exception):
    """The package was not built; the text says why and what to do."""
