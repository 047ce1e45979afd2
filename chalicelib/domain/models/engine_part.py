"""A network or program that an engine is made of, as the health call tells of it."""

from __future__ import annotations

from dataclasses import dataclass

LOADED = "loaded"
"""In this process's memory."""
INSTALLED = "installed"
"""On this machine's disk."""
OFFERED = "offered"
"""In the bucket; brought when it is first needed."""
MISSING = "missing"
STATES = (LOADED, INSTALLED, OFFERED, MISSING)


@dataclass(frozen=True)
class EnginePart:
    """One part of an engine."""

    name: str
    """Name of its folder."""
    state: str
    """One of STATES."""
    title: str | None = None
    """Name given by its makers; None while its files are not here."""
    sha256: str | None = None
    """Digest of its files, 64 hex digits; None while they are not here."""
