"""Stands for tables and buckets of predictions where only the engine's time is measured."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from chalicelib.domain.accounts.account import ACTIVE, Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.common.clock import system_clock
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import Ranked
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.services.predictions.texts import PredictionService


class FolderModels:
    """Models in a folder, under their ids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def artifact(self, model: ServedModel) -> bytes:
        """Read a model's file."""
        return (self._folder / model.model_id).read_bytes()


class NoCounters:
    """Counts nothing, so that a prediction costs no call of a table."""

    def reserve(self, *_: object) -> int:
        """Admit a call."""
        return 1

    def keep(self, *_: object) -> None:
        """Remove it."""


ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", ACTIVE, (), "L", datetime.now(UTC))
UNCOUNTED = Allowances(NoCounters(), system_clock, 0)


def ask(service: PredictionService, model: ServedModel, text: str) -> Ranked:
    """Ask a model of intents."""
    [found] = service.predict(model, [text], dataset_type="text-intent", account=ACCOUNT)
    return tuple(found.items)


def prediction_service(folder: Path, encoders: EncoderPool) -> PredictionService:
    """Build the service as it is, on models of a folder."""
    return PredictionService(FolderModels(folder), UNCOUNTED, encoders)


def served(model_id: str) -> ServedModel:
    """Describe a model that has succeeded."""
    return ServedModel(model_id, "text-intent", "SUCCEEDED", "1")
