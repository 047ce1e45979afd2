"""Prebuilt models, whose files are in the model directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chalicelib.domain.models.model import OCR, PREBUILT
from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.stores.models.versions import ARTIFACT, CARD

# Folder within the model directory.
_FOLDER = "prebuilt"


class PrebuiltStore:
    """Reads prebuilt models."""

    def __init__(self, model_dir: str, source: ModelSource = INSTALLED_ONLY) -> None:
        self._folder = Path(model_dir) / _FOLDER
        self._source = source

    def is_installed(self, model_id: str) -> bool:
        """Return whether the files of a prebuilt model are installed or can be downloaded."""
        # OCR models use the installed engines and have no artifact, only a card.
        needed = CARD if PREBUILT.get(model_id) == OCR else ARTIFACT
        is_here = (self._folder / model_id / needed).is_file()
        return is_here or self._source.offers(f"{_FOLDER}/{model_id}")

    def artifact(self, model_id: str) -> bytes:
        """Return the artifact of a prebuilt model; raise OSError if the model is not installed."""
        return self._read(model_id, ARTIFACT)

    def card(self, model_id: str) -> dict[str, Any]:
        """Return the model card of a prebuilt model; raise OSError if it is not installed."""
        card: dict[str, Any] = json.loads(self._read(model_id, CARD))
        return card

    def _read(self, model_id: str, name: str) -> bytes:
        self._source.ensure(f"{_FOLDER}/{model_id}")
        return (self._folder / model_id / name).read_bytes()
