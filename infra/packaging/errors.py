"""What can go wrong while the package is built, said so that a person can mend it."""

from __future__ import annotations


class PackageError(Exception):
    """The package was not built; the text says why and what to do."""
