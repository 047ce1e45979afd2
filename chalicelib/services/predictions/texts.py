"""Predicts the labels of texts. Spec: Prediction response.

Loaded models are cached by version. Each call reads the stored row of the model first. So a deleted
model is not used any more, and a new version is used at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import (
    DEFAULTS,
    Prediction,
    PredictionOptions,
    Probability,
    Ranked,
)
from chalicelib.domain.models.warm_models import WarmModels
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.text.encoding.encoders import EncoderDamaged
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.errors import EncoderMissing, EncoderUnreadable, ModelNotReady, ModelUnreadable
from chalicelib.stores.models.served import ServedModels

if TYPE_CHECKING:
    from chalicelib.domain.models.explanation import Explanation
    from chalicelib.engines.text.classifier import TrainedText

# Cached artifacts; the least recently used one is evicted first.
WARM_MODELS = 1_000
# Memory of all cached artifacts: enough for a thousand of 100 labels on the fast encoders.
WARM_BYTES = 768 * 1024**2


class PredictionService:
    """Predicts labels of texts with trained and prebuilt models."""

    def __init__(
        self, models: ServedModels, allowances: Allowances, encoders: EncoderPool, threads: int = 1
    ) -> None:
        self._threads = threads
        self._models = models
        self._allowances = allowances
        self._encoders = encoders
        self._warm: WarmModels[TrainedText] = WarmModels(
            WARM_MODELS, WARM_BYTES, lambda model: model.bytes, LANGUAGE
        )

    def predict(
        self,
        model: ServedModel,
        texts: Sequence[str],
        *,
        dataset_type: str,
        options: PredictionOptions = DEFAULTS,
        account: Account | None = None,
    ) -> list[Prediction[Probability]]:
        """Predict the labels of texts. A call for a single text passes a list of one.

        The prediction for a text is bit by bit the same, whatever other texts are in the call.

        Args:
            model: any model that the account may use.
            texts: the texts.
            dataset_type: type of dataset that the model must have been trained from.
            options: number of labels to return, and whether to explain them.
            account: the account for which each successful prediction is counted; None if the caller
                has reserved the predictions, as a batch does.

        Returns:
            One prediction per text; without labels if the model rejects the text as out of scope.

        Raises:
            InvalidParameter: the model was trained from a dataset of another type.
            ModelNotReady: no training of the model has succeeded yet.
            EncoderMissing: the model needs an encoder that is not installed.
            EncoderUnreadable: the model needs an encoder whose files are damaged.
            ModelUnreadable: the model's artifact is damaged or of another version.
            PredictionQuotaExceeded: no prediction is left this month.
        """
        trained = self._checked(model, dataset_type)
        if account is None:
            return self._answers(trained, texts, options)
        return [self._counted(account, model, trained, text, options) for text in texts]

    def check(self, model: ServedModel, dataset_type: str) -> None:
        """Raise the error that `predict` would raise for this model. No prediction is counted."""
        self._checked(model, dataset_type)

    def _counted(
        self,
        account: Account,
        model: ServedModel,
        trained: TrainedText,
        text: str,
        options: PredictionOptions,
    ) -> Prediction[Probability]:
        [found], usage = self._allowances.predict(
            account, model, lambda: self._answers(trained, [text], options)
        )
        return replace(found, usage=usage)

    def _answers(
        self, trained: TrainedText, texts: Sequence[str], options: PredictionOptions
    ) -> list[Prediction[Probability]]:
        from chalicelib.engines.text.classifier import answer_texts, encode_texts

        encoders, threads = self._encoders, self._threads
        if options.judges:
            from chalicelib.engines.ranking.texts import judge

            blocks = encode_texts(trained, encoders, texts, threads)
            return [Prediction((), judgement=found) for found in judge(trained, blocks)]
        answers = answer_texts(trained, encoders, texts, options.count, threads)
        if not options.explains:
            return [Prediction(found) for found in answers]
        pairs = zip(texts, answers, strict=True)
        return [
            Prediction(found, explanation=self._explain(trained, text, found))
            for text, found in pairs
        ]

    def _checked(self, model: ServedModel, dataset_type: str) -> TrainedText:
        """Return the loaded model; raise an error if it cannot predict."""
        model.require_type((dataset_type,))
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        trained = self._warm.get((model.model_id, model.version), lambda: self._read(model))
        for use in trained.encoders:
            try:
                installed = self._encoders.sha256(use.name)
            except EncoderDamaged as cause:
                raise EncoderUnreadable(model.model_id, use.name) from cause
            # Another version of the encoder gives other vectors, for which the head was not
            # trained.
            if installed != use.sha256:
                raise EncoderMissing(model.model_id, use.name)
        return trained

    def _explain(self, trained: TrainedText, document: str, ranked: Ranked) -> Explanation:
        from chalicelib.engines.text.classifier import encode_texts
        from chalicelib.engines.text.explanation import explain

        if not ranked:
            return ()
        encode = partial(encode_texts, trained, self._encoders, threads=self._threads)
        return explain(trained, encode, document, ranked[0].label)

    def _read(self, model: ServedModel) -> TrainedText:
        from chalicelib.engines.text.classifier import load

        content = self._models.artifact(model)
        try:
            return load(content)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause
