"""Reads the dependencies of the distribution from the requirements files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FILES = ("../../requirements.txt", "requirements.txt")
_PIN = re.compile(r"^[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[^\s#]+", re.MULTILINE)


class RequirementsHook(MetadataHookInterface):
    """Adds the packages that the functions and the local stack need, at the tested versions."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        texts = [(Path(self.root) / name).read_text("utf-8") for name in _FILES]
        metadata["dependencies"] = [pin[0] for text in texts for pin in _PIN.finditer(text)]
