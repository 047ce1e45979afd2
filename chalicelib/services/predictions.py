"""Answers texts with the probabilities of a model's labels. Spec: Prediction response.

Artifacts are kept warm by version; a model's row is read at every call, so that a deleted model
answers nothing and a retrained one answers with its new version at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.domain.ids import STRING_ID
from chalicelib.domain.model import PREBUILT, ServedModel
from chalicelib.domain.prediction import Probability, ordered
from chalicelib.engines.text.encoder_pool import EncoderPool
from chalicelib.errors import (
    EncoderMissing,
    InvalidParameter,
    ModelNotFound,
    ModelNotReady,
    PrebuiltNotInstalled,
    StorageUnavailable,
)
from chalicelib.stores.model_files import ModelFiles
from chalicelib.stores.models import ModelStore
from chalicelib.stores.prebuilt import PrebuiltStore

if TYPE_CHECKING:
    from chalicelib.engines.text.classifier import TrainedText

WARM_MODELS = 1_000
"""Artifacts kept in memory; the least recently used one goes first."""
PREBUILT_VERSION = "prebuilt"


class PredictionService:
    """Predicts with own and prebuilt models."""

    def __init__(
        self,
        models: ModelStore,
        files: ModelFiles,
        prebuilt: PrebuiltStore,
        encoders: EncoderPool,
    ) -> None:
        self._models = models
        self._files = files
        self._prebuilt = prebuilt
        self._encoders = encoders
        self._warm: _WarmModels = _WarmModels(WARM_MODELS)

    def find_model(self, account_id: str, model_id: str) -> ServedModel:
        """Find a model of the account, or a prebuilt one.

        Raises:
            ModelNotFound: there is none.
            PrebuiltNotInstalled: its files are missing.
            StorageUnavailable: the storage did not answer.
        """
        if model_id in PREBUILT:
            if not self._prebuilt.is_installed(model_id):
                raise PrebuiltNotInstalled(model_id)
            return ServedModel(model_id, PREBUILT[model_id], "SUCCEEDED", PREBUILT_VERSION)
        is_id = STRING_ID.fullmatch(model_id) is not None
        model = self._models.find_served(account_id, model_id) if is_id else None
        if model is None:
            raise ModelNotFound(model_id[:100])
        return model

    def check(self, model: ServedModel, dataset_type: str) -> None:
        """Refuse a model that cannot answer this endpoint.

        Raises:
            InvalidParameter: it is of another type.
            ModelNotReady: it has not succeeded yet.
            EncoderMissing: it needs an encoder that is not installed.
            StorageUnavailable: the storage did not answer.
        """
        if model.type != dataset_type:
            raise InvalidParameter(
                "modelId",
                f"model {model.model_id} is of type {model.type}; "
                f"this call needs one of type {dataset_type}.",
            )
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        for use in self._load(model).encoders:
            installed = self._encoders.is_installed(use.name)
            if not installed or self._encoders.get(use.name).sha256 != use.sha256:
                raise EncoderMissing(model.model_id, use.name)

    def predict_text(
        self, model: ServedModel, dataset_type: str, document: str, count: int | None
    ) -> tuple[Probability, ...]:
        """Return the labels by probability; none when the text is out of the model's domain.

        Raises:
            ServiceError: as `check`.
        """
        self.check(model, dataset_type)
        trained = self._load(model)
        blocks = {
            use.name: self._encoders.get(use.name).encode([document]) for use in trained.encoders
        }
        if bool(trained.rejects(blocks)[0]):
            return ()
        row = trained.predict(blocks)[0].tolist()
        items = [Probability(*pair) for pair in zip(trained.labels, row, strict=True)]
        return ordered(items, count)

    def _load(self, model: ServedModel) -> TrainedText:
        """Return the trained model, from memory when it is warm."""
        key = (model.model_id, model.version)
        return self._warm.get(key, lambda: self._read(model))

    def _read(self, model: ServedModel) -> TrainedText:
        """Read an artifact."""
        from chalicelib.engines.text.classifier import load

        if model.version == PREBUILT_VERSION:
            return load(self._prebuilt.artifact(model.model_id))
        content = self._files.artifact(model.model_id, model.version)
        if content is None:
            # The row names a version whose file is gone: the model was deleted a moment ago.
            raise StorageUnavailable
        return load(content)


class _WarmModels:
    """The most recently used models; safe to share between threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._models: OrderedDict[tuple[str, str], TrainedText] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str], read: Callable[[], TrainedText]) -> TrainedText:
        """Return a model, reading it when it is not there."""
        with self._lock:
            if key in self._models:
                self._models.move_to_end(key)
                return self._models[key]
        model = read()
        with self._lock:
            self._models[key] = model
            while len(self._models) > self._limit:
                self._models.popitem(last=False)
        return model
