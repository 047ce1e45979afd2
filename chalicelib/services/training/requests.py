"""Accepts trainings and retrainings. Workers of the queue run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID, Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_UNLABELLED
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import LANGUAGE, Dataset, DatasetView
from chalicelib.domain.datasets.fields import checked_name
from chalicelib.domain.datasets.upload import is_upload_path
from chalicelib.domain.jobs.messages import TrainJob
from chalicelib.domain.models.model import OPEN, QUEUED, Model, ModelView, TrainRequest
from chalicelib.domain.models.training import (
    check_enough_pictures,
    check_enough_texts,
    check_trainable,
    check_words,
    checked_algorithm,
)
from chalicelib.engines.text.encoding.encoders import encoder_names
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.errors import (
    BadRequest,
    DatasetNotReady,
    InvalidParameter,
    ModelBusy,
    ProfileMissing,
    StorageUnavailable,
    TooManyOpen,
)
from chalicelib.stores.jobs.queues import retried_by_sweep
from chalicelib.stores.models.run_files import StoreFiles

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.guards import GuardStore
    from chalicelib.stores.jobs.turns import TrainingQueue
    from chalicelib.stores.models.models import ModelStore
    from chalicelib.stores.models.places import QueuePlaces

# Queues a run with its last argument. If the request names uploaded texts, they are stored first.
QueueWithUnlabelled = Callable[[Model, float, Callable[[StoreFiles | None], ModelView]], ModelView]


@dataclass(frozen=True, kw_only=True)
class TrainingServiceStores:
    """Stores used by `TrainingService`."""

    capacity: CapacityStore
    datasets: DatasetStore
    guards: GuardStore
    labels: LabelStore
    models: ModelStore
    places: QueuePlaces
    training_queue: TrainingQueue


class TrainingService:
    """Accepts trainings. Each accepted request leads to exactly one training."""

    def __init__(
        self,
        stores: TrainingServiceStores,
        with_unlabelled: QueueWithUnlabelled,
        encoders: EncoderPool,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._stores = stores
        self._with_unlabelled = with_unlabelled
        self._encoders = encoders
        self._clock = clock
        self._settings = settings

    def request(
        self,
        account: Account,
        view: DatasetView,
        name: str,
        request: TrainRequest,
        seconds: float = 0.0,
    ) -> ModelView:
        """Queue the training of a new model.

        `seconds` limits the time to read unlabelled texts of the request; 0 means the usual limit.

        Raises:
            BadRequest: a field is not allowed, or there are too few examples.
            Conflict: the dataset is not available, or the profile is not installed.
            TooManyOpen: the account has too many open trainings.
            TooLarge: the account does not have enough storage for another version.
        """
        name = checked_name(name)
        request = self._checked(view, request)
        now = self._clock()
        model = Model(
            account_id=account.account_id,
            model_id=object_id(),
            name=name,
            dataset_id=view.dataset.dataset_id,
            family=view.dataset.family,
            type=view.dataset.type,
            language=view.dataset.language,
            status=QUEUED,
            progress=0,
            created_at=now,
            updated_at=now,
            request=request,
            queued_at=now,
            is_paid=account.is_paid,
            heeds_rate=True,
        )
        return self._with_unlabelled(
            model, seconds, lambda store: self.queue_new(account, model, view.dataset, store)
        )

    def queue_new(
        self, account: Account, model: Model, dataset: Dataset | None, store: StoreFiles | None
    ) -> ModelView:
        """Queue the first run of a new model, and create the row of the model.

        If the run reads a dataset, the dataset is protected from deletion. `store` writes the files
        of the run.

        Raises:
            Conflict: the dataset is not available.
            TooManyOpen: the account has too many open trainings.
            TooLarge: the account does not have enough storage for another version.
        """
        # The artifact of an import is about as large as its archive.
        archive_bytes = (model.request.imported or {}).get("bytes") or 0
        self._stores.capacity.check_version(model.account_id, int(str(archive_bytes)))
        # The position is read first, so that only the queue can still fail once the training is
        # accepted.
        position = self.view(model).queue_position
        entry = self._guard(account, dataset, model.model_id)
        try:
            turn = self._stores.training_queue.turn(model.account_id, is_paid=model.is_paid)
            model = replace(model, turn=turn)
            self._stores.models.create(model, is_hidden=store is not None)
            if store is not None:
                store()
                self._stores.models.show(model)
        except StorageUnavailable:
            self._revert(model, dataset, entry)
            raise
        self._enqueue(model)
        return ModelView(model, position)

    def retrain(
        self, account: Account, model: Model, request: TrainRequest, seconds: float = 0.0
    ) -> ModelView:
        """Queue a retraining under the same model id.

        `seconds` limits the time to read unlabelled texts of the request; 0 means the usual limit.

        Raises:
            BadRequest: a field is not allowed, or the dataset was deleted or has too few examples.
            Conflict: the model is busy or was imported, the dataset is not available, or the
                profile is not installed.
            TooManyOpen: the account has too many open trainings.
        """
        model.require_dataset("retrained")
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None:
            raise BadRequest(
                f"Dataset {model.dataset_id} of model {model.model_id} was deleted. "
                "Train a new model from another dataset.",
                code="dataset_deleted",
            )
        view = self._stores.labels.view(dataset)
        request = self._checked(view, request, model.request.algorithm)
        if model.status in OPEN:
            raise ModelBusy(model.model_id, model.status, "retrained")
        return self._with_unlabelled(
            replace(model, request=request, run=model.run + 1),
            seconds,
            lambda store: self._queue_again(account, model, request, dataset, store),
        )

    def queue_adjustment(
        self, account: Account, model: Model, request: TrainRequest, store: StoreFiles | None
    ) -> ModelView:
        """Queue an adjustment, which reads no dataset. It raises the same errors as `retrain`."""
        return self._queue_again(account, model, request, None, store)

    def _queue_again(
        self,
        account: Account,
        model: Model,
        request: TrainRequest,
        dataset: Dataset | None,
        store: StoreFiles | None,
    ) -> ModelView:
        """Queue the next run of a model, and protect the run's dataset against deletion."""
        self._stores.capacity.check_version(model.account_id, model.versions.newest_bytes)
        waiting = replace(model, status=QUEUED, queued_at=self._clock(), is_paid=account.is_paid)
        position = self.view(waiting).queue_position
        entry = self._guard(account, dataset, model.model_id)
        turn = self._stores.training_queue.turn(account.account_id, is_paid=account.is_paid)
        if store is not None:
            self._store_run(store, account, dataset, entry)
        queued = self._stores.models.requeue(model, request, account.is_paid, turn)
        # Another call has queued the model since this one read it.
        if queued is None:
            self._stores.guards.remove(account.account_id, dataset, [entry])
            action = "adjusted" if dataset is None else "retrained"
            raise ModelBusy(model.model_id, QUEUED, action)
        self._enqueue(queued)
        return ModelView(queued, position)

    def _store_run(
        self, store: StoreFiles, account: Account, dataset: Dataset | None, entry: str
    ) -> None:
        """Write the texts of a run. If this fails, remove the run's guard entry `entry`."""
        try:
            store()
        except StorageUnavailable:
            self._stores.guards.remove(account.account_id, dataset, [entry])
            raise

    def view(self, model: Model) -> ModelView:
        """Return a model with its present position in the queue."""
        if model.status != QUEUED:
            return ModelView(model)
        return ModelView(model, 1 + self._stores.places.before(model))

    def _checked(
        self, view: DatasetView, request: TrainRequest, previous_algorithm: str | None = None
    ) -> TrainRequest:
        """Check the options of a request and the dataset's examples; return the checked request."""
        dataset = view.dataset
        algorithm = checked_algorithm(dataset.type, request.algorithm, previous_algorithm)
        _check_text_params(dataset, request)
        self._check_global(dataset, request.param("withGlobalDatasetId"))
        if not is_upload_path(str(request.param("unlabelled"))):
            self._check_unlabelled(dataset, request.param("unlabelled"))
        check_trainable(dataset)
        if dataset.family == LANGUAGE:
            check_enough_texts(
                view,
                with_feedback=request.with_feedback,
                skips_small=request.skips_small_labels,
                minimum=request.minimum_examples,
            )
            check_words(dataset, with_feedback=request.with_feedback)
            self._check_profile(dataset, algorithm, request.param("profile"))
        else:
            check_enough_pictures(view, with_feedback=request.with_feedback)
        return replace(request, algorithm=algorithm)

    def _check_global(self, dataset: Dataset, global_id: object) -> None:
        """Raise InvalidParameter if the global dataset does not exist or has another type."""
        if global_id is None:
            return
        found = self._stores.datasets.find(GLOBAL_ACCOUNT_ID, dataset.family, int(str(global_id)))
        if found is None or found.type != dataset.type or not found.available:
            raise InvalidParameter(
                "trainParams",
                f"withGlobalDatasetId {global_id} is not a global dataset of type {dataset.type}; "
                "list them with global=true.",
            )

    def _check_unlabelled(self, dataset: Dataset, unlabelled: object) -> None:
        """Raise InvalidParameter unless the requested dataset of unlabelled texts can be used."""
        if unlabelled is None or dataset.family != LANGUAGE:
            return
        found = self._stores.datasets.find(dataset.account_id, LANGUAGE, int(str(unlabelled)))
        if found is None or not found.available:
            raise InvalidParameter(
                "trainParams",
                f"unlabelled {unlabelled} is not an available language dataset of this account; "
                "send the id of one.",
            )
        texts = sum(counts.upload for counts in found.counts)
        if texts > MAX_UNLABELLED:
            raise InvalidParameter(
                "trainParams",
                f"the dataset {unlabelled} of unlabelled texts has {texts:,} texts, the limit is "
                f"{MAX_UNLABELLED:,}; use a smaller one.",
            )

    def _check_profile(self, dataset: Dataset, algorithm: str | None, profile: object) -> None:
        if profile is None:
            return
        # A requested profile is never replaced by another one.
        names = encoder_names(dataset.language, algorithm, str(profile))
        missing = [name for name in names if not self._encoders.is_installed(name)]
        if missing:
            raise ProfileMissing(str(profile), missing)

    def _guard(self, account: Account, dataset: Dataset | None, model_id: str) -> str:
        """Add a guard entry to the account and the dataset of a training; return the entry.

        The entry counts the training against the account's limit, and protects the dataset.
        """
        guards, limit = self._stores.guards, self._settings.max_open_trainings
        # Entries name the model, so that entries of dead calls can be recognised and removed.
        entry = guards.new(model_id)
        if not guards.add_to_account(account.account_id, entry, limit):
            raise TooManyOpen(
                f"{limit} trainings of this account are QUEUED or RUNNING, the most allowed. "
                "Wait until one has finished.",
                retry_after_seconds=10,
            )
        if dataset is None:
            return entry
        try:
            is_guarded = self._stores.datasets.add_training(dataset, entry)
        except StorageUnavailable:
            self._unguard(account.account_id, dataset, entry)
            raise
        if not is_guarded:
            self._unguard(account.account_id, dataset, entry)
            raise DatasetNotReady(dataset.dataset_id, "UPLOADING or DELETION_PENDING")
        return entry

    def _revert(self, model: Model, dataset: Dataset | None, entry: str) -> None:
        """Delete what a failed request stored, unless another attempt stored the model."""
        try:
            if self._stores.models.cancel(model):
                self._stores.guards.remove(model.account_id, dataset, [entry])
        except StorageUnavailable:
            log.warning("withdraw_failed", model=model.model_id)

    def _unguard(self, account_id: str, dataset: Dataset, entry: str) -> None:
        """Remove a guard entry. If this fails, the entry is ignored after a minute."""
        try:
            self._stores.guards.remove(account_id, dataset, [entry])
        except StorageUnavailable:
            log.warning("unguard_failed", dataset=dataset.dataset_id)

    def _enqueue(self, model: Model) -> None:
        """Send the job of a training. If the queue fails, the periodic sweep sends it later."""
        with retried_by_sweep("train", model=model.model_id):
            self._stores.training_queue.announce(TrainJob.of(model))


def _check_text_params(dataset: Dataset, request: TrainRequest) -> None:
    if dataset.family != LANGUAGE and request.param("skipSmallLabels") is not None:
        raise InvalidParameter(
            "trainParams",
            f"skipSmallLabels is for texts, and dataset {dataset.dataset_id} is of type "
            f"{dataset.type}, which has no minimum of examples per label. Leave it out.",
        )
