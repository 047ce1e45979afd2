"""Where the folders of model files come from when they do not lie on this machine yet."""

from __future__ import annotations

from typing import Protocol


class ModelSource(Protocol):
    """Brings folders of model files; folders are named as below the model directory."""

    def offers(self, folder: str) -> bool:
        """Tell whether a folder can be brought."""

    def bring(self, folder: str) -> None:
        """See to it that a folder is there, if it is offered at all; quick when it is."""


class InstalledOnly:
    """The source of a machine whose model files are installed: it has no others."""

    def offers(self, folder: str) -> bool:
        """Offer nothing."""
        return False

    def bring(self, folder: str) -> None:
        """Bring nothing."""


INSTALLED_ONLY = InstalledOnly()
"""The one that is used unless another is given."""
