"""Where folders of model files come from, and what the health call tells of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# In this process's memory.
LOADED = "loaded"
# On this machine's disk.
INSTALLED = "installed"
# In the bucket; brought when it is first needed.
OFFERED = "offered"
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


class ModelSource(Protocol):
    """Brings folders of model files; folders are named as below the model directory."""

    def offers(self, folder: str) -> bool:
        """Return whether a folder can be brought."""

    def ensure(self, folder: str) -> None:
        """See to it that a folder is there, if it is offered at all; quick when it is."""


class InstalledOnly:
    """The source of a machine whose model files are installed: it has no others."""

    def offers(self, folder: str) -> bool:
        """Offer nothing."""
        return False

    def ensure(self, folder: str) -> None:
        """Bring nothing."""


# The one that is used unless another is given.
INSTALLED_ONLY = InstalledOnly()
