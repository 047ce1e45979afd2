"""The source of model files, and the states of the files in the answer to GET health."""

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
    """A component of an engine, with the state of its files."""

    name: str
    state: str
    """One of STATES."""
    title: str | None = None
    """Name that the component's authors use; None if its files are not on this machine."""
    sha256: str | None = None
    """SHA-256 of the files, 64 hex digits; None if they are not on this machine."""


class ModelSource(Protocol):
    """Provides folders of model files. A folder is named relative to the model directory."""

    def offers(self, folder: str) -> bool:
        """Return whether a folder can be downloaded."""

    def ensure(self, folder: str) -> None:
        """Download a folder that is missing, if the source offers it."""


class InstalledOnly:
    """The source of model files on a machine that has them installed. It downloads nothing."""

    def offers(self, folder: str) -> bool:
        """Return False: nothing is downloaded."""
        return False

    def ensure(self, folder: str) -> None:
        """Do nothing: only installed files are used."""


# The default source.
INSTALLED_ONLY = InstalledOnly()
