"""Prebuilt models: files in the folder of installed model files. See infra/models.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chalicelib.domain.model import OCR, PREBUILT
from chalicelib.stores.model_files import ARTIFACT, CARD


class PrebuiltStore:
    """Reads installed prebuilt models."""

    def __init__(self, model_dir: str) -> None:
        self._folder = Path(model_dir) / "prebuilt"

    def is_installed(self, model_id: str) -> bool:
        """Tell whether a prebuilt model's files are there.

        The models that read text share the installed engines, and have a card only.
        """
        needed = CARD if PREBUILT.get(model_id) == OCR else ARTIFACT
        return (self._folder / model_id / needed).is_file()

    def artifact(self, model_id: str) -> bytes:
        """Read a prebuilt model's artifact.

        Raises:
            OSError: it is not installed.
        """
        return (self._folder / model_id / ARTIFACT).read_bytes()

    def card(self, model_id: str) -> dict[str, Any]:
        """Read a prebuilt model's card.

        Raises:
            OSError: it is not installed.
        """
        card: dict[str, Any] = json.loads((self._folder / model_id / CARD).read_bytes())
        return card
