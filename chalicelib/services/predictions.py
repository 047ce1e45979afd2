"""Answers texts with the probabilities of a model's labels. Spec: Prediction response.

Artifacts are kept warm by version; a model's row is read at every call, so that a deleted model
answers nothing and a retrained one answers with its new version at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import Probability, ranked
from chalicelib.domain.models.warm_models import WarmModels
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.text.encoding.encoders import EncoderDamaged
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.errors import EncoderMissing, EncoderUnreadable, ModelNotReady, ModelUnreadable
from chalicelib.stores.models.served import ServedModels

if TYPE_CHECKING:
    from chalicelib.engines.text.classifier import TrainedText

WARM_MODELS = 1_000
"""Artifacts kept in memory; the least recently used one goes first."""
WARM_BYTES = 768 * 1024**2
"""Memory that they may take together: a thousand of 100 labels on the fast encoders."""


class PredictionService:
    """Predicts with own and prebuilt models."""

    def __init__(self, models: ServedModels, encoders: EncoderPool) -> None:
        self._models = models
        self._encoders = encoders
        self._warm: WarmModels[TrainedText] = WarmModels(
            WARM_MODELS, WARM_BYTES, lambda model: model.bytes
        )

    def find_model(self, account_id: str, model_id: str) -> ServedModel:
        """Find a model of the account, or a prebuilt one.

        Raises:
            ModelNotFound: there is none.
            PrebuiltNotInstalled: its files are missing.
        """
        return self._models.find(account_id, model_id)

    def check(self, model: ServedModel, dataset_type: str) -> None:
        """Refuse a model that cannot answer this endpoint.

        Raises:
            InvalidParameter: it is of another type.
            ModelNotReady: it has not succeeded yet.
            EncoderMissing: it needs an encoder that is not installed.
            EncoderUnreadable: it needs one whose files are damaged.
            ModelUnreadable: its artifact is damaged or of another version.
        """
        model.require_type((dataset_type,))
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        for use in self._load(model).encoders:
            if self._sha256(model, use.name) != use.sha256:
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
        blocks = self._encoders.vectors([use.name for use in trained.encoders], document)
        if bool(trained.rejects(blocks)[0]):
            return ()
        row = trained.predict(blocks)[0].tolist()
        return ranked(trained.labels, row, count)

    def _sha256(self, model: ServedModel, encoder: str) -> str:
        """Return the digest of an installed encoder, empty when it is not there.

        Raises:
            EncoderUnreadable: its files are damaged.
        """
        if not self._encoders.is_installed(encoder):
            return ""
        try:
            return self._encoders.get(encoder).sha256
        except EncoderDamaged as cause:
            raise EncoderUnreadable(model.model_id, encoder) from cause

    def _load(self, model: ServedModel) -> TrainedText:
        """Return the trained model, from memory when it is warm."""
        key = (model.model_id, model.version)
        return self._warm.get(key, lambda: self._read(model))

    def _read(self, model: ServedModel) -> TrainedText:
        """Read an artifact.

        Raises:
            ModelUnreadable: it is damaged, or of another version of the engine.
        """
        from chalicelib.engines.text.classifier import load

        content = self._models.artifact(model)
        try:
            return load(content)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause
