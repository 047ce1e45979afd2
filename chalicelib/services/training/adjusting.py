"""Adjusts a text model to texts of users, without training it again. See beyond.md, section 15.

An adjustment is queued and run like a training. It copies the served version, with new values of
the temperature, the label frequencies and the rejection threshold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_TEXT_FILE_BYTES
from chalicelib.domain.datasets.dataset import (
    DELETION_PENDING,
    FAMILY_TYPES,
    FEEDBACK,
    LANGUAGE,
    UPLOAD,
    Dataset,
    DatasetView,
)
from chalicelib.domain.datasets.upload import UploadSource, is_upload_path
from chalicelib.domain.jobs.lease import Cancellation
from chalicelib.domain.models.learning import LearnedModel, RunControl
from chalicelib.domain.models.model import OPEN, Model, ModelView, TrainRequest
from chalicelib.domain.models.user_texts import (
    MOST_TEXTS,
    OUT_OF_DOMAIN_LABEL,
    SHOWN_TEXTS,
    UserTexts,
    check_user_texts,
)
from chalicelib.engines.artifact import ArtifactError
from chalicelib.errors import (
    BadRequest,
    Conflict,
    InvalidParameter,
    ModelBusy,
    ModelNotReady,
    ModelUnreadable,
    TrainingFailed,
)
from chalicelib.formats.texts.batch_file import check_sent
from chalicelib.formats.user_texts import read_user_texts
from chalicelib.stores.models.run_files import RunFiles, RunFileStore, StoreFiles, UserTextStore
from chalicelib.stores.models.versions import CARD, EVALUATION, METRICS, ModelVersions

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles
    from chalicelib.domain.models.evaluation import Evaluation
    from chalicelib.engines.interface import Blocks
    from chalicelib.engines.text.adjustment import Adjustment
    from chalicelib.engines.text.classifier import TrainedText
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.examples.examples import ExampleStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.models.curves import CurveStore

# Queues the next run of a model. The last argument writes its files.
QueueAgain = Callable[[Account, Model, TrainRequest, StoreFiles | None], ModelView]
# Returns the vectors of texts by the name of an encoder.
Embed = Callable[[str, Sequence[str]], "Singles"]
# The only type whose models can be adjusted.
INTENT = FAMILY_TYPES[LANGUAGE][0]
# Texts that are embedded between two checks of the lease.
_TEXTS_AT_ONCE = 200
_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class AdjustmentStores:
    """Stores used by `AdjustmentService`."""

    curves: CurveStore
    datasets: DatasetStore
    downloads: Downloader
    examples: ExampleStore
    in_flight: InFlight
    labels: LabelStore
    model_files: ModelVersions
    run_files: RunFileStore
    uploaded_files: UploadedFileStore
    user_texts: UserTextStore


@dataclass(frozen=True)
class AdjustmentRequest:
    """The texts and options of a call that adjusts a model."""

    source: UploadSource | DatasetView
    """A file, its URL, or a dataset whose uploaded texts are used."""
    rate: float | None = None
    """Fraction of in-domain texts that may be rejected; None for the model's present fraction."""
    with_feedback: bool = False
    """Whether to use feedback examples of the model's dataset as well."""


class AdjustmentService:
    """Accepts adjustments, and runs them for the training queue."""

    def __init__(
        self,
        stores: AdjustmentStores,
        queue_again: QueueAgain,
        embed: Embed,
        is_overdue: Callable[[Dataset], bool],
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._is_overdue = is_overdue
        self._queue_again = queue_again
        self._embed = embed
        self._clock = clock

    def request(
        self,
        account: Account,
        model: Model,
        options: AdjustmentRequest,
        seconds: float,
    ) -> ModelView:
        """Queue an adjustment of the served version.

        `seconds` is the time limit for reading the texts.

        Raises:
            BadRequest: the model is not an intent model, or cannot be adjusted to these texts.
            Conflict: the model is busy or was never trained.
            TooManyOpen: the account has too many open trainings.
        """
        model.require_dataset("adjusted")
        _check_model(model)
        options = self._located(account, options)
        texts, feedback = self._checked(account, model, options, seconds)
        if model.status in OPEN:
            raise ModelBusy(model.model_id, model.status, "adjusted")
        self._check_dataset(model)
        key = self._stores.user_texts.new_key(model)
        asked = options.rate if options.rate is not None else model.out_of_domain_rate
        # Texts of a dataset are not stored on the card, where the deletion of the dataset would not
        # find them.
        keeps = not isinstance(options.source, DatasetView)
        adjustment = {"texts": key, "rate": asked, "keepsTexts": keeps}
        if options.with_feedback:
            adjustment["feedback"] = feedback
        request = replace(model.request, adjustment=adjustment)
        files = RunFiles(
            lambda: self._stores.user_texts.put(key, texts),
            lambda: self._stores.user_texts.delete(key),
            options.source.uploaded if isinstance(options.source, UploadSource) else None,
        )
        return self._stores.run_files.queue(
            replace(model, request=request, run=model.run + 1),
            files,
            lambda store: self._queue_again(account, model, request, store),
        )

    def _located(self, account: Account, request: AdjustmentRequest) -> AdjustmentRequest:
        """Add the uploaded file to a request if the request's `path` names an uploaded file."""
        source = request.source
        if isinstance(source, DatasetView) or not is_upload_path(source.path or ""):
            return request
        uploaded = self._stores.run_files.find_texts(account.account_id, source.path or "", "path")
        return replace(request, source=replace(source, uploaded=uploaded))

    def _check_dataset(self, model: Model) -> None:
        """Raise Conflict if the model's dataset, or data of this dataset, waits to be deleted.

        A deletion waits until a running adjustment ends. Without this check, repeated adjustments
        could delay the deletion forever.
        """
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None:
            return
        if self._is_overdue(dataset):
            raise Conflict(
                f"Examples that were removed from dataset {dataset.dataset_id} are being removed "
                f"from model {model.model_id}. Adjust the model in two minutes.",
                "dataset_being_deleted",
            )
        if dataset.status == DELETION_PENDING:
            raise Conflict(
                f"Dataset {dataset.dataset_id} of model {model.model_id} is being deleted. Adjust "
                "the model when the deletion has ended.",
                "dataset_being_deleted",
            )

    def _checked(
        self,
        account: Account,
        model: Model,
        request: AdjustmentRequest,
        seconds: float,
    ) -> tuple[UserTexts, int]:
        """Return the checked texts of a request, and how many of the last texts are feedback."""
        trained = self._load(model)
        rows = self._read(account, request.source, trained.labels, seconds)
        feedback = self._feedback(model, trained.labels, rows) if request.with_feedback else []
        texts = UserTexts(*([row[part] for row in rows + feedback] for part in (0, 1)))
        can_reject = model.out_of_domain_rate is not None
        check_user_texts(texts, trained.labels, request.rate, can_reject=can_reject)
        if can_reject and not _has_samples(trained):
            raise BadRequest(
                "This version of the model stored no scores to compare with. Train it again, then "
                "adjust it.",
                "retrain_first",
            )
        return texts, len(feedback)

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Adjust the served version of a model.

        Raises:
            TrainingFailed: the texts or the version were deleted.
            LeaseLost: another worker owns the run.
        """
        wanted = model.request.adjustment or {}
        found = self._stores.user_texts.get(str(wanted.get("texts")))
        if found is None or not model.version:
            raise TrainingFailed("The texts of the adjustment are gone. Send them again.")
        began = self._clock()
        trained = self._load(model)
        return self._adjusted(
            model, trained, found, self._vectors(trained, found.texts, control), began
        )

    def discard(self, model: Model) -> None:
        """Delete the texts of an ended run."""
        if model.request.adjustment is not None:
            self._stores.user_texts.delete_until(model)

    def _adjusted(
        self,
        model: Model,
        trained: TrainedText,
        texts: UserTexts,
        blocks: Blocks,
        began: Any,
    ) -> LearnedModel:
        """Return the adjusted version: a new artifact with the served version's metrics."""
        import numpy as np

        from chalicelib.engines.text.adjustment import UNLABELLED, adjust
        from chalicelib.engines.text.classifier import dump

        places = {name: place for place, name in enumerate(trained.labels)}
        places |= {"": UNLABELLED, OUT_OF_DOMAIN_LABEL: len(trained.labels)}
        wanted = model.request.adjustment or {}
        rate, keeps = wanted.get("rate"), wanted.get("keepsTexts") is True
        asked = None if rate is None else float(str(rate))
        truth = np.array([places.get(label, UNLABELLED) for label in texts.labels])
        feedback = wanted.get("feedback")
        sent = len(truth) - int(str(feedback or 0))
        adjusted, result = adjust(trained, blocks, truth, asked, sent)
        shows = asked is not None and keeps
        nearest = _nearest(adjusted, texts, blocks, sent) if shows else []
        metrics, card, evaluation = self._documents(model)
        card |= _card_members(card, result, asked, nearest)
        if feedback is not None:
            card["adjustment"]["feedback"] = feedback
        base = next((v for v in model.versions.items if v.folder == model.version), None)
        if base is not None:
            self._stores.curves.copy(model, base.run)
        seconds = (self._clock() - began).total_seconds()
        return LearnedModel(
            artifact=dump(adjusted),
            metrics=metrics,
            card=card,
            labels=len(adjusted.labels),
            examples=base.examples if base else 0,
            training_seconds=round(seconds, 3),
            early_stopping=False,
            last_epoch=0,
            train_size=result.labelled,
            test_size=0,
            evaluation=evaluation,
        )

    def _documents(self, model: Model) -> tuple[dict[str, Any], dict[str, Any], Evaluation | None]:
        files = self._stores.model_files
        metrics = files.document(model.model_id, model.version, METRICS) or {}
        card = files.document(model.model_id, model.version, CARD) or {}
        has_evaluation = files.document(model.model_id, model.version, EVALUATION) is not None
        return metrics, card, files.evaluation(model) if has_evaluation else None

    def _vectors(self, trained: TrainedText, texts: Sequence[str], control: RunControl) -> Blocks:
        """Return the vectors (float32, shape (texts, dims)) of texts, by name of the encoder."""
        import numpy as np

        names = [use.name for use in trained.encoders]

        def encode(parts: Sequence[str]) -> Blocks:
            return {name: self._embed(name, parts) for name in names}

        read = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            control.check()
            read.append(trained.read(texts[start : start + _TEXTS_AT_ONCE], encode))
            control.report(min(1.0, (start + _TEXTS_AT_ONCE) / len(texts)) * 0.9)
        return {name: np.concatenate([blocks[name] for blocks in read]) for name in names}

    def _load(self, model: Model) -> TrainedText:
        from chalicelib.engines.text.classifier import load

        content = self._stores.model_files.artifact(model.model_id, model.version)
        if content is None:
            raise ModelUnreadable(model.model_id, "its file is missing")
        try:
            return load(content)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause

    def _read(
        self,
        account: Account,
        source: UploadSource | DatasetView,
        labels: Sequence[str],
        seconds: float,
    ) -> list[tuple[str, str]]:
        if isinstance(source, DatasetView):
            return list(self._of_dataset(source, UPLOAD))
        return list(self._of_file(account, source, labels, seconds))

    def _feedback(
        self, model: Model, labels: Collection[str], rows: Sequence[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        """Return (text, label) of the model's feedback, without texts that are in `rows`."""
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise InvalidParameter(
                "withFeedback", "the model's dataset is deleted, with its feedback. Leave it out."
            )
        count = sum(counts.feedback for counts in dataset.counts)
        if len(rows) + count > MOST_TEXTS:
            raise InvalidParameter(
                "withFeedback",
                f"{count:,} feedback examples and {len(rows):,} texts are more than "
                f"{MOST_TEXTS:,}. Leave it out, or send fewer texts.",
            )
        sent = {text for text, _ in rows}
        return [
            (text, label)
            for text, label in self._of_dataset(self._stores.labels.view(dataset), FEEDBACK)
            # The dataset may have labels that the model does not know yet.
            if label in labels and text not in sent
        ]

    def _of_dataset(self, view: DatasetView, kind: str) -> Iterator[tuple[str, str]]:
        """Yield text and label of a dataset's uploads or feedback."""
        dataset = view.dataset
        if dataset.family != LANGUAGE or dataset.type != INTENT:
            raise InvalidParameter(
                "datasetId",
                f"dataset {dataset.dataset_id} is of type {dataset.type}, not {INTENT}.",
            )
        names = {label.label_id: label.name for label in view.labels}
        for counts in dataset.counts:
            for example in self._stores.examples.read_all(dataset.dataset_id, kind, [counts]):
                yield example.name, names[counts.label_id]

    def _of_file(
        self, account: Account, source: UploadSource, labels: Sequence[str], seconds: float
    ) -> Iterator[tuple[str, str]]:
        """Yield each text of a file with the content of its label column."""
        limit = min(seconds, _SECONDS) if seconds else _SECONDS
        cancellation = Cancellation(lambda: None, self._clock, limit)
        with tempfile.TemporaryFile() as file:
            self._fetch(account, source, file, cancellation)
            yield from read_user_texts(file, source.options, labels, cancellation.check)

    def _fetch(
        self, account: Account, source: UploadSource, file: Any, cancellation: Cancellation
    ) -> None:
        if source.path is None:
            check_sent(source.content or b"", source.options.encoding)
            file.write(source.content or b"")
            return
        if source.uploaded is not None:
            self._stores.uploaded_files.read(source.uploaded, file, check=cancellation.check)
            return
        with self._stores.in_flight.downloading(account.account_id):
            self._stores.downloads.fetch(
                source.path,
                file,
                MAX_TEXT_FILE_BYTES,
                cancellation.remaining_seconds,
                check=cancellation.check,
            )


def _check_model(model: Model) -> None:
    if model.type != INTENT:
        raise InvalidParameter(
            "model_id",
            f"model {model.model_id} is of type {model.type}; only models of type {INTENT} "
            "can be adjusted.",
        )
    if not model.version:
        raise ModelNotReady(model.model_id, model.status)


def _nearest(
    adjusted: TrainedText, texts: UserTexts, blocks: Blocks, sent: int
) -> list[dict[str, Any]]:
    """Return the texts whose scores are nearest to the rejection threshold.

    Only the first `sent` texts, which are not feedback, are compared.
    """
    from chalicelib.engines.text.adjustment import nearest_rows

    blocks = {name: block[:sent] for name, block in blocks.items()}
    rows = nearest_rows(adjusted, blocks, SHOWN_TEXTS)
    answers = adjusted.answer({name: block[rows] for name, block in blocks.items()})
    return [
        {
            "text": texts.texts[row],
            "label": adjusted.labels[int(answers.shares[at].argmax())],
            "isRejected": bool(answers.is_rejected[at]),
        }
        for at, row in enumerate(rows)
    ]


def _has_samples(trained: TrainedText) -> bool:
    rejector = trained.parameters.rejector
    return rejector is not None and rejector.samples is not None


def _card_members(
    card: dict[str, Any], result: Adjustment, rate: float | None, nearest: list[dict[str, Any]]
) -> dict[str, Any]:
    return {"adjustment": _document(result, rate, nearest), "advice": _advice(card, result, rate)}


def _advice(card: dict[str, Any], result: Adjustment, rate: float | None) -> list[dict[str, Any]]:
    """Return a card's advice, plus advice on user texts that differ from the training data."""
    from chalicelib.engines.advice import with_shift

    advice: list[dict[str, Any]] = card.get("advice", [])
    before, after = result.rejected_before, result.rejected_after
    if rate is None or before is None or after is None:
        return advice
    return with_shift(advice, before, after, rate)


def _document(
    result: Adjustment, rate: float | None, nearest: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the description of an adjustment for the model card."""
    document: dict[str, Any] = {
        "labelled": result.labelled,
        "outOfDomain": result.out_of_domain,
        "unlabelled": result.unlabelled,
        "temperatureFactor": round(result.temperature_factor, 4),
    }
    if rate is not None and result.rejected_before and result.rejected_after:
        for name, part in (("before", result.rejected_before), ("after", result.rejected_after)):
            document[f"rejected{name.capitalize()}"] = {
                "value": round(part.value, 4),
                "low": round(part.low, 4),
                "high": round(part.high, 4),
            }
        document |= {"outOfDomainRate": rate, "nearest": nearest}
    return document
