"""Stands for tables and buckets of predictions where only the engine's time is measured."""

from __future__ import annotations

from pathlib import Path

from chalicelib.domain.model import ServedModel


class FolderModels:
    """Models lie in a folder, under their ids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def artifact(self, model: ServedModel) -> bytes:
        """Read a model's file."""
        return (self._folder / model.model_id).read_bytes()


def served(model_id: str) -> ServedModel:
    """A model that has succeeded."""
    return ServedModel(model_id, "text-intent", "SUCCEEDED", "1")
