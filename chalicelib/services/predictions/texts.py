"""Predicts the labels of texts. Spec: Prediction response.

Artifacts are cached by version. The row of a model is read at each call, so that a deleted model is
not used any more, and a new version is used at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.windows import SHORT_CHARACTERS
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import (
    DEFAULTS,
    Prediction,
    PredictionOptions,
    Probability,
    Ranked,
    ranked,
)
from chalicelib.domain.models.warm_models import WarmModels
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.text.encoding.encoders import EncoderDamaged
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.errors import EncoderMissing, EncoderUnreadable, ModelNotReady, ModelUnreadable
from chalicelib.stores.models.served import ServedModels

if TYPE_CHECKING:
    from chalicelib.domain.models.explanation import Explanation
    from chalicelib.engines.interface import Blocks
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
        """Predict the labels of texts; a single call sends a list of one.

        The other texts of a call do not change the answer to a text, not even in the last bit.

        Args:
            model: any model that the account may use.
            texts: the texts.
            dataset_type: type of dataset that the model must have been trained from.
            options: number of labels to return, and whether to explain them.
            account: the account for which each successful prediction is counted; None if the caller
                has reserved the predictions, as a batch does.

        Returns:
            One prediction per text; without a label if the text is out of the model's domain.

        Raises:
            InvalidParameter: the model has another type.
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
        """Raise the error of `predict` for a model that cannot predict; count nothing."""
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
        blocks = self._encode(trained, texts)
        if options.judges:
            from chalicelib.engines.ranking.texts import judge

            return [Prediction((), judgement=found) for found in judge(trained, blocks)]
        answers = []
        for row, text in enumerate(texts):
            # One matrix product per text: its last bits depend on the number of rows.
            found = _ranked(trained, {k: v[row : row + 1] for k, v in blocks.items()}, options)
            why = self._explain(trained, text, found) if options.explains else None
            answers.append(Prediction(found, explanation=why))
        return answers

    def _checked(self, model: ServedModel, dataset_type: str) -> TrainedText:
        """Return the loaded model if it can predict."""
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

    def _explain(self, trained: TrainedText, document: str, found: Ranked) -> Explanation:
        from chalicelib.engines.text.explanation import explain

        if not found:
            return ()
        return explain(trained, partial(self._encode, trained), document, found[0].label)

    def _encode(self, trained: TrainedText, texts: Sequence[str]) -> Blocks:
        """Return the vectors of texts by encoder, float32, each of shape (texts, dims)."""
        names = [use.name for use in trained.encoders]
        # Most texts are a sentence, which every model reads whole.
        if len(texts) == 1 and len(texts[0]) <= SHORT_CHARACTERS:
            return self._encoders.vectors(names, texts[0])

        def encode(parts: Sequence[str]) -> Blocks:
            if len(parts) == 1:
                return self._encoders.vectors(names, parts[0])
            return {
                name: self._encoders.get(name).encode(parts, threads=self._threads)
                for name in names
            }

        return trained.read(texts, encode)

    def _read(self, model: ServedModel) -> TrainedText:
        from chalicelib.engines.text.classifier import load

        content = self._models.artifact(model)
        try:
            return load(content)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause


def _ranked(trained: TrainedText, blocks: Blocks, options: PredictionOptions) -> Ranked:
    """Return the labels of one text; empty if the text is out of the model's domain."""
    answers = trained.answer(blocks)
    if bool(answers.is_rejected[0]):
        return ()
    return ranked(trained.labels, answers.shares[0].tolist(), options.count)
