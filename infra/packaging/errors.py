"""The error of a build; its message has the remedy."""

from __future__ import annotations


class PackageError(Exception):
    """The package was not built; the message says why and what to do."""
