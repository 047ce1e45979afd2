"""Stands for tables and buckets of predictions where only the engine's time is measured."""

from __future__ import annotations

from pathlib import Path

from chalicelib.domain.models.model import ServedModel
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.services.predictions import PredictionService


class FolderModels:
    """Models lie in a folder, under their ids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def artifact(self, model: ServedModel) -> bytes:
        """Read a model's file."""
        return (self._folder / model.model_id).read_bytes()


def prediction_service(folder: Path, encoders: EncoderPool) -> PredictionService:
    """The service as it is, on models of a folder."""
    return PredictionService(FolderModels(folder), encoders)


def served(model_id: str) -> ServedModel:
    """A model that has succeeded."""
    return ServedModel(model_id, "text-intent", "SUCCEEDED", "1")
