"""Replaces the stores that predictions use, for benchmarks that measure only the engine."""

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
    """A store that reads models from a folder, by the ids of the models."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def artifact(self, model: ServedModel) -> bytes:
        """Read a model's file."""
        return (self._folder / model.model_id).read_bytes()


class NoCounters:
    """A quota that counts nothing, so that a prediction makes no call to a table."""

    def reserve(self, *_: object) -> int:
        """Reserve nothing, and allow the call."""
        return 1

    def keep(self, *_: object) -> None:
        """Store nothing."""


ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", ACTIVE, (), "L", datetime.now(UTC))
UNCOUNTED = Allowances(NoCounters(), system_clock, 0)


def ask(service: PredictionService, model: ServedModel, text: str) -> Ranked:
    """Predict the intent of a text with a model."""
    [found] = service.predict(model, [text], dataset_type="text-intent", account=ACCOUNT)
    return tuple(found.items)


def prediction_service(folder: Path, encoders: EncoderPool) -> PredictionService:
    """Return the `PredictionService` for models in a folder."""
    return PredictionService(FolderModels(folder), UNCOUNTED, encoders)


def served(model_id: str) -> ServedModel:
    """Return the description of a model that can be served."""
    return ServedModel(model_id, "text-intent", "SUCCEEDED", "1")
