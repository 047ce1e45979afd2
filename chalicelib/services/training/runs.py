"""Runs trainings: acquires the lease, calls the learner, publishes the version, ends the run.

The learners in text_learner.py and vision_learner.py train the models. A write is refused if
another worker has taken over the run. The model's row points to a version only after the version's
files are complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.datasets.dataset import DELETION_PENDING, Dataset
from chalicelib.domain.jobs.imported_model import described
from chalicelib.domain.jobs.messages import TrainJob
from chalicelib.domain.models.comparison import compare, why_not_compared
from chalicelib.domain.models.evaluation import evaluation_document
from chalicelib.domain.models.learning import Adjuster, Importer, LearnedModel, Learner, RunControl
from chalicelib.domain.models.model import OPEN, Model, TrainStats
from chalicelib.domain.models.model_version import ModelVersion
from chalicelib.domain.models.suspects import suspects_document
from chalicelib.domain.models.training import attempt_cause, out_of_attempts
from chalicelib.engines.text.encoding.encoders import EncoderNotInstalled
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled
from chalicelib.errors import (
    LeaseLost,
    PartsSent,
    StorageUnavailable,
    TimedOut,
    TrainingFailed,
)
from chalicelib.stores.jobs.heartbeats import Heartbeat
from chalicelib.stores.jobs.turns import TrainingQueue
from chalicelib.stores.models.leases import ModelLeases, RunEnding
from chalicelib.stores.models.versions import CARD, EVALUATION, METRICS, SUSPECTS, ModelVersions

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.jobs.guards import GuardStore
    from chalicelib.stores.models.models import ModelStore
    from chalicelib.stores.models.run_parts import RunParts
    from chalicelib.stores.models.serving import VersionUse

# Minimum time between two progress reports, in seconds: each is a write of the row.
REPORT_SECONDS = 0.5
# Time between two checks for waiting trainings, in seconds.
LOOK_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class TrainingRunServiceStores:
    """Stores used by `TrainingRunService`."""

    capacity: CapacityStore
    datasets: DatasetStore
    events: Events
    guards: GuardStore
    model_files: ModelVersions
    model_leases: ModelLeases
    models: ModelStore
    run_parts: RunParts
    training_queue: TrainingQueue
    version_use: VersionUse


class TrainingRunService:
    """Runs the training jobs that the queues deliver."""

    def __init__(
        self,
        stores: TrainingRunServiceStores,
        learners: Mapping[str, Learner],
        adjuster_and_importer: tuple[Adjuster, Importer],
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._stores = stores
        self._adjustments, self._imports = adjuster_and_importer
        self._queue = stores.training_queue
        self._learners = learners
        self._clock = clock
        self._settings = settings

    def run(self, job: TrainJob, remaining_seconds: Callable[[], float], delivery: int = 1) -> None:
        """Train the next model in the queue, even if the message names another model.

        `remaining_seconds` returns the remaining time of the Lambda function. `delivery` is how
        many times the queue has delivered the message.
        """
        model = self._queue.acquire(job)
        if model is None or model.model_id != job.model_id:
            self._emit_again(job, delivery)
        if model is None:
            return
        if model.attempts > self._settings.max_attempts:
            # The last attempt died without an outcome.
            self._give_up(model, model.last_error)
            ended = True
        else:
            # This training may belong to another account than the message.
            with log.bound(account=model.account_id, model=model.model_id):
                ended = self._attempt(model, remaining_seconds)
        if ended:
            self._queue.announce_next(job, model.account_id)
        if model.model_id != job.model_id:
            # Another job has used this message, so this job needs a new one.
            self._queue.announce_again(job)

    def _attempt(self, model: Model, remaining_seconds: Callable[[], float]) -> bool:
        """Train a model and store the result; return False if the training continues elsewhere."""
        started, ended = time.monotonic(), False
        try:
            self._train(model, remaining_seconds)
            ended = True
        except LeaseLost:
            log.warning("training_lease_lost", model=model.model_id)
            self._revert(model)
        # Running out of time is not a failed attempt: the next function continues.
        except TimedOut:
            served = model.served_seconds + time.monotonic() - started
            self._queue.return_to_queue(model, served)
        except PartsSent as sent:
            served = model.served_seconds + time.monotonic() - started
            if not self._queue.wait_for_parts(model, served, sent):
                self._revert(model)
        # Another attempt would fail in the same way, so the run ends.
        except (TrainingFailed, EncoderNotInstalled, BackboneNotInstalled) as failure:
            self._end(model, str(failure))
            ended = True
        except Exception as error:
            self._retry(model, error)
            raise
        return ended

    def _train(self, model: Model, remaining_seconds: Callable[[], float]) -> None:
        started = time.monotonic()
        leases = self._stores.model_leases
        with Heartbeat(lambda: leases.renew(model), self._settings.lease_seconds) as heartbeat:
            control = _RunControl(leases, self._queue, model, heartbeat, remaining_seconds)
            learned = self._learn(model, control)
            entries = self._stores.guards.of_run(model)
            heartbeat.check()
            self._publish(model, learned, started)
        self._clean_up(model, entries)

    def _learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Train on the dataset, adjust the served version, or read an imported model."""
        if model.request.imported is not None:
            return self._imports.learn(model, control)
        if model.request.adjustment is not None:
            return self._adjustments.learn(model, control)
        learned = self._learners[model.family].learn(model, self._dataset(model), control)
        if model.version and (number := self._adjusted_version(model)):
            learned.card["adjustment"] = {"startedWithout": number}
        return learned

    def _adjusted_version(self, model: Model) -> int:
        """Return the number of the served version if it was made by an adjustment, otherwise 0."""
        version = next((one for one in model.versions.items if one.folder == model.version), None)
        return version.number if version is not None and version.is_adjusted else 0

    def _publish(self, model: Model, learned: LearnedModel, started: float) -> None:
        """Write all files of a version, then point the model's row to it."""
        saving = time.monotonic()
        if learned.description is not None:
            model = described(model, learned.description)
        # The fence is in the name, so that a stalled worker and its successor never share a file.
        version = f"r{model.run}-{model.fence}"
        suspects = suspects_document(learned.suspects)
        documents = {METRICS: learned.metrics, CARD: learned.card, SUSPECTS: suspects}
        if learned.evaluation is not None:
            documents[EVALUATION] = evaluation_document(learned.evaluation)
        self._stores.model_files.put_version(model, version, learned.artifact, documents)
        stats = self._stats(learned, started, saving)
        made = ModelVersion(
            number=0,  # the row knows the next number
            folder=version,
            created_at=self._clock(),
            examples=stats.examples,
            algorithm=model.request.algorithm,
            is_adjusted=model.request.adjustment is not None,
            bytes=len(learned.artifact),
            **self._decide_serving(model, learned),
        )
        counted = self._stores.capacity.read_version(model.account_id)
        ending = RunEnding(stats, frozenset(self._stores.version_use.find(model)))
        try:
            gone = self._stores.model_leases.succeed(model, made, ending)
        except LeaseLost:
            # No row refers to this version, so nothing else would ever delete it.
            self._stores.model_files.delete_version(model, version)
            raise
        gone = self._unused(model, gone)
        self._stores.capacity.settle(
            model.account_id, counted, len(learned.artifact) - sum(one.bytes or 0 for one in gone)
        )
        for one in gone:
            self._delete_files(model, one.folder)
        journal.training_done(model.model_id, model.type, stats.total_seconds)
        self._emit(model, "training.succeeded")

    def _decide_serving(self, model: Model, learned: LearnedModel) -> dict[str, str]:
        """Decide whether to serve a new version, if the request has the option `if-better`.

        Returns:
            A dict with `not_served_because` if the new version is worse than the served version, or
            with `served_because` if the versions could not be compared; otherwise an empty dict.
        """
        current = self._stores.models.find(model.account_id, model.model_id)
        if not model.request.serves_if_better or current is None or not current.version:
            return {}
        served, new = self._stores.model_files.evaluation(current), learned.evaluation
        # After a retraining on wrong labels, the predictions hardly change, but fit the labels
        # less.
        found = compare(served, new, by_own_labels=True)
        if found is None:
            reason = why_not_compared(served, new)
            return {"served_because": f"The versions were not compared, because {reason}."}
        if not found.is_worse:
            return {}
        reason = (
            f"On {found.examples} common examples the accuracy changed from "
            f"{found.first_accuracy:.3f} to {found.second_accuracy:.3f}, each on the labels of its "
            f"training (95 % interval of the difference {found.low:+.3f} to {found.high:+.3f})."
        )
        return {"not_served_because": reason}

    def _unused(self, model: Model, removed: list[ModelVersion]) -> list[ModelVersion]:
        """Restore versions in `removed` that batches or exports use; return the unused versions.

        If the storage does not answer, the result is empty, so that no files are deleted.
        """
        try:
            return self._stores.version_use.put_back(model, removed)
        except StorageUnavailable:
            # The run has succeeded. The files of the removed versions stay, as some may be in use.
            log.warning("version_not_deleted", model=model.model_id)
            return []

    def _delete_files(self, model: Model, folder: str) -> None:
        try:
            self._stores.model_files.delete_version(model, folder)
        except StorageUnavailable:
            # The files stay until the model is deleted.
            log.warning("version_not_deleted", model=model.model_id)

    def _emit(self, model: Model, event: str) -> None:
        ids = {"modelId": model.model_id, "datasetId": model.dataset_id, "run": model.run}
        self._stores.events.emit(model.account_id, event, family=model.family, **ids)

    def _emit_again(self, job: TrainJob, delivery: int) -> None:
        """After a redelivery, emit the event of the run, because it may not have been emitted."""
        if delivery == 1:
            return
        model = self._stores.models.find(job.account_id, job.model_id)
        if model is not None and model.run == job.run and model.status not in OPEN:
            self._emit(model, f"training.{model.status.lower()}")

    def _stats(self, learned: LearnedModel, started: float, saving: float) -> TrainStats:
        now = time.monotonic()
        total = now - started
        # The time of a resumed run counts from its first function, whose monotonic clock is lost.
        if learned.begun_at is not None:
            total = max(total, (self._clock() - learned.begun_at).total_seconds())
        rest = total - (now - saving) - learned.training_seconds
        return TrainStats(
            labels=learned.labels,
            examples=learned.examples,
            total_seconds=round(total, 3),
            training_seconds=round(learned.training_seconds, 3),
            save_seconds=round(now - saving, 3),
            load_seconds=round(max(0.0, rest), 3),
            early_stopping=learned.early_stopping,
            last_epoch=learned.last_epoch,
            train_size=learned.train_size,
            test_size=learned.test_size,
        )

    def _dataset(self, model: Model) -> Dataset:
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise TrainingFailed(
                f"Dataset {model.dataset_id} was deleted before the training began. "
                "Train a model from another dataset."
            )
        return dataset

    def _end(self, model: Model, message: str) -> None:
        entries = self._stores.guards.of_run(model)
        try:
            self._stores.model_leases.fail(model, message)
        except LeaseLost:
            log.warning("training_lease_lost", model=model.model_id)
            return
        journal.training_failed(model.model_id, model.type)
        self._emit(model, "training.failed")
        self._clean_up(model, entries)

    def _give_up(self, model: Model, cause: str) -> None:
        self._end(model, out_of_attempts(self._settings.max_attempts, cause))
        journal.job_given_up("model", model.model_id)

    def _clean_up(self, model: Model, entries: frozenset[str]) -> None:
        """Delete a run's checkpoints, and the `entries` that protect its data from being deleted.

        Errors are logged, not raised.
        """
        try:
            self._stores.guards.release(model, entries)
        except StorageUnavailable:
            log.warning("unguard_failed", model=model.model_id)
        try:
            self._discard(model)
        except StorageUnavailable:
            log.warning("clean_up_failed", model=model.model_id)

    def _discard(self, model: Model) -> None:
        """Delete data that only a running training needs."""
        self._adjustments.discard(model)
        self._imports.discard(model)
        self._learners[model.family].discard(model)
        self._stores.run_parts.delete(model)

    def _revert(self, model: Model) -> None:
        """Revert an attempt that lost its lease, so that the attempt is not counted.

        If the model was deleted, its files are deleted. If the run has ended, its data is deleted.
        """
        try:
            self._stores.model_leases.uncount_attempt(model)
            current = self._stores.models.find(model.account_id, model.model_id)
            if current is None:
                self._stores.model_files.delete(model.model_id)
            elif current.run != model.run or current.status not in OPEN:
                self._discard(model)
        except StorageUnavailable:
            log.warning("withdraw_failed", model=model.model_id)

    def _retry(self, model: Model, error: Exception) -> None:
        """Record a failed attempt; the run starts again, or ends if no attempt is left."""
        cause = attempt_cause(model.family, error)
        log.error("training_interrupted", error, model=model.model_id)
        try:
            if model.attempts >= self._settings.max_attempts:
                self._give_up(model, cause)
            else:
                self._stores.model_leases.fail_attempt(model, cause)
        except StorageUnavailable:
            log.warning("release_failed", model=model.model_id)


class _RunControl:
    """Reports the progress of a run at most every REPORT_SECONDS, and decides when to stop it."""

    def __init__(
        self,
        leases: ModelLeases,
        queue: TrainingQueue,
        model: Model,
        heartbeat: Heartbeat,
        remaining_seconds: Callable[[], float],
    ) -> None:
        self._leases = leases
        self._queue = queue
        self._model = model
        self._beat = heartbeat
        self._remaining_seconds = remaining_seconds
        self._began = self._checked_at = time.monotonic()
        self._must_yield = False
        self._reported_at = 0.0
        self._shown = model.progress

    def remaining_seconds(self) -> float:
        """Return the time until Lambda stops this process; 0 if another training must run first.

        The learner then saves its state, as if the time of the invocation were up.
        """
        now = time.monotonic()
        if not self._must_yield and now - self._checked_at >= LOOK_SECONDS:
            self._checked_at = now
            served = self._model.served_seconds + now - self._began
            try:
                self._must_yield = self._queue.must_yield(self._model, served)
            except StorageUnavailable:
                log.warning("queue_not_read", model=self._model.model_id)
        return 0.0 if self._must_yield else self._remaining_seconds()

    def check(self) -> None:
        """Raise LeaseLost if another worker owns the run."""
        self._beat.check()

    def report(self, share: float, epochs: int = 0) -> None:
        """Store the progress if the last report is old enough and the progress has increased."""
        self._beat.check()
        if self.is_due() and share > self._shown:
            self._reported_at = time.monotonic()
            self._shown = share
            self._leases.report(self._model, share, epochs)

    def is_due(self) -> bool:
        """Return whether enough time has passed since the last report to store another one."""
        return time.monotonic() - self._reported_at >= REPORT_SECONDS
