"""Sources of model file folders, and their states in the health call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# In this process's memory.
LOADED = "loaded"
# On this machine's disk.
INSTALLED = "installed"
# In the bucket; downloaded when it is first needed.
OFFERED = "offered"
MISSING = "missing"
STATES = (LOADED, INSTALLED, OFFERED, MISSING)


@dataclass(frozen=True)
class EnginePart:
    """A part of an engine, with the state of its files."""

    name: str
    state: str
    """One of STATES."""
    title: str | None = None
    """Name given by its authors; None if its files are not on this machine."""
    sha256: str | None = None
    """Digest of its files, 64 hex digits; None if they are not on this machine."""


class ModelSource(Protocol):
    """Provides folders of model files, by their names below the model directory."""

    def offers(self, folder: str) -> bool:
        """Return whether a folder can be downloaded."""

    def ensure(self, folder: str) -> None:
        """Download a folder if it is offered and missing."""


class InstalledOnly:
    """The source of a machine whose model files are installed: it downloads nothing."""

    def offers(self, folder: str) -> bool:
        """Return False."""
        return False

    def ensure(self, folder: str) -> None:
        """Do nothing."""


# The default source.
INSTALLED_ONLY = InstalledOnly()
