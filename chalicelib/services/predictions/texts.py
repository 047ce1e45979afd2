"""Answers texts with the probabilities of a model's labels. Spec: Prediction response.

Artifacts are kept warm by version; a model's row is read at every call, so that a deleted model
answers nothing and a retrained one answers with its new version at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
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
    from chalicelib.domain.models.judgement import Judgement
    from chalicelib.engines.interface import Blocks
    from chalicelib.engines.text.classifier import TrainedText

WARM_MODELS = 1_000
"""Artifacts kept in memory; the least recently used one goes first."""
WARM_BYTES = 768 * 1024**2
"""Memory that they may take together: a thousand of 100 labels on the fast encoders."""


class PredictionService:
    """Predicts with own and prebuilt models."""

    def __init__(
        self, models: ServedModels, allowances: Allowances, encoders: EncoderPool, threads: int = 1
    ) -> None:
        self._threads = threads
        self._models = models
        self._allowances = allowances
        self._encoders = encoders
        self._warm: WarmModels[TrainedText] = WarmModels(
            WARM_MODELS, WARM_BYTES, lambda model: model.bytes
        )

    def answer(
        self,
        account: Account,
        model: ServedModel,
        document: str,
        *,
        dataset_type: str,
        options: PredictionOptions = DEFAULTS,
    ) -> Prediction[Probability]:
        """Answer a text, counted against the account's allowance unless it fails.

        Args:
            account: who asks.
            model: any model that the account may use.
            document: the text.
            dataset_type: what the model must have been trained from.
            options: what the call chose.

        Returns:
            The labels by probability; none when the text is out of the model's domain.

        Raises:
            InvalidParameter: the model is of another type.
            ModelNotReady: it has not succeeded yet.
            EncoderMissing: it needs an encoder that is not installed.
            EncoderUnreadable: it needs one whose files are damaged.
            ModelUnreadable: its artifact is damaged or of another version.
            PredictionQuotaExceeded: no prediction is left this month.
        """
        trained = self._checked(model, dataset_type)

        def work() -> tuple[Ranked, Explanation | None]:
            found = self._predict(trained, document, options.count)
            return found, self._explain(trained, document, found) if options.explains else None

        (found, explanation), usage = self._allowances.predict(account, model, work)
        return Prediction(found, usage, explanation)

    def check(self, model: ServedModel, dataset_type: str) -> None:
        """Refuse a model that cannot answer texts, as `answer` does, and count nothing."""
        self._checked(model, dataset_type)

    def answer_all(
        self, model: ServedModel, documents: Sequence[str], dataset_type: str, count: int | None
    ) -> list[Ranked]:
        """Answer texts as `answer` does, to the last bit; whoever calls has counted them.

        Args:
            model: any model that the account may use.
            documents: the texts.
            dataset_type: what the model must have been trained from.
            count: most labels that are returned.

        Raises:
            InvalidParameter, ModelNotReady, EncoderMissing, EncoderUnreadable, ModelUnreadable:
                as `answer` does.
        """
        trained = self._checked(model, dataset_type)
        blocks = self._encode(trained, documents)
        # One text a product: the last bits depend on how many texts stand side by side.
        return [
            _ranked(trained, {name: block[row : row + 1] for name, block in blocks.items()}, count)
            for row in range(len(documents))
        ]

    def judge_all(self, model: ServedModel, documents: Sequence[str]) -> Iterator[Judgement]:
        """Say what a model makes of texts; whoever calls has counted them.

        Args:
            model: one of the account's own.
            documents: the texts.

        Raises:
            ModelNotReady, EncoderMissing, EncoderUnreadable, ModelUnreadable: as `answer` does.
        """
        from chalicelib.engines.ranking.texts import judge

        trained = self._checked(model, model.type)
        return judge(trained, self._encode(trained, documents))

    def _checked(self, model: ServedModel, dataset_type: str) -> TrainedText:
        """Load a model, or refuse one that cannot answer."""
        model.require_type((dataset_type,))
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        trained = self._warm.get((model.model_id, model.version), lambda: self._read(model))
        for use in trained.encoders:
            try:
                installed = self._encoders.sha256(use.name)
            except EncoderDamaged as cause:
                raise EncoderUnreadable(model.model_id, use.name) from cause
            if installed != use.sha256:
                raise EncoderMissing(model.model_id, use.name)
        return trained

    def _explain(self, trained: TrainedText, document: str, found: Ranked) -> Explanation:
        from chalicelib.engines.text.explanation import explain

        if not found:
            return ()
        return explain(trained, partial(self._encode, trained), document, found[0].label)

    def _encode(self, trained: TrainedText, documents: Sequence[str]) -> Blocks:
        """Turn texts into the vectors that a model needs, float32, shape (texts, dims) each."""
        return {
            use.name: self._encoders.get(use.name).encode(documents, threads=self._threads)
            for use in trained.encoders
        }

    def _predict(self, trained: TrainedText, document: str, count: int | None) -> Ranked:
        blocks = self._encoders.vectors([use.name for use in trained.encoders], document)
        return _ranked(trained, blocks, count)

    def _read(self, model: ServedModel) -> TrainedText:
        """Read an artifact."""
        from chalicelib.engines.text.classifier import load

        content = self._models.artifact(model)
        try:
            return load(content)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause


def _ranked(trained: TrainedText, blocks: Blocks, count: int | None) -> Ranked:
    """Answer one text by its vectors; nothing when it is out of the model's domain."""
    answers = trained.answer(blocks)
    if bool(answers.is_rejected[0]):
        return ()
    return ranked(trained.labels, answers.shares[0].tolist(), count)
