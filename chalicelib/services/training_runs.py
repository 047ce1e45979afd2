"""Runs trainings: read examples, take or make embeddings, fit, publish under a new version.

Entered by the training queues. Every write is fenced; the artifact lies complete under a
version of its own before the model's row is switched to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.clock import Clock
from chalicelib.domain.dataset import DELETION_PENDING, Dataset
from chalicelib.domain.jobs import Job, train_job
from chalicelib.domain.model import Model, TrainStats
from chalicelib.domain.training_texts import TrainingTexts
from chalicelib.engines.text.encoder_pool import EncoderPool
from chalicelib.engines.text.encoders import EncoderNotInstalled, encoder_names
from chalicelib.errors import LeaseLost, StorageUnavailable, TimedOut, TrainingFailed
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.guards import GuardStore
from chalicelib.stores.heartbeats import Heartbeat
from chalicelib.stores.model_files import CARD, METRICS, ModelFiles
from chalicelib.stores.model_leases import ModelLeases
from chalicelib.stores.queues import TRAIN_FREE, TRAIN_PAID, Queues
from chalicelib.stores.training_examples import TrainingExamples

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from chalicelib.engines.text.run import Fitted

    Floats = npt.NDArray[np.float32]
    ReadVectors = Callable[[int, str, Sequence[str], Callable[[int, int], None]], Floats]
    Embed = Callable[[str, Sequence[str]], Floats]

RESERVE_SECONDS = 60.0
"""Time left of a function's run at which the next one goes on, in seconds."""
REPORT_SECONDS = 0.5
"""Shortest time between two progress reports, in seconds."""
_EMBED_SHARE, _FIT_SHARE = 0.5, 0.45


@dataclass(frozen=True)
class RunStores:
    """What a run reads and writes."""

    datasets: DatasetStore
    """Dataset rows."""
    examples: TrainingExamples
    """Texts and labels."""
    leases: ModelLeases
    """Ownership and publication."""
    files: ModelFiles
    """Artifacts and documents."""
    guards: GuardStore
    """Entries of open trainings."""
    queues: Queues
    """Continuations."""


@dataclass(frozen=True)
class Embedder:
    """Where vectors come from."""

    vectors: ReadVectors
    """Vectors of a dataset's texts, kept beside it."""
    embed: Embed
    """Vectors of other texts."""
    encoders: EncoderPool
    """Installed encoders."""


class TrainingRunService:
    """Runs the jobs of the training queues."""

    def __init__(
        self, stores: RunStores, embedder: Embedder, clock: Clock, settings: Settings
    ) -> None:
        self._stores = stores
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    def run(self, job: Job, remaining_seconds: Callable[[], float]) -> None:
        """Train one model; a run that is done, gone or owned by another worker is left alone.

        Args:
            job: as made by `train_job`.
            remaining_seconds: time left of this function's run.

        Raises:
            StorageUnavailable: the storage did not answer; the queue tries again.
        """
        model = self._stores.leases.take(
            str(job["account_id"]), str(job["model_id"]), int(str(job["run"]))
        )
        if model is None:
            return
        if model.attempts > self._settings.max_attempts:
            self._end(model, self._gave_up(model, model.last_error))
            return
        try:
            self._train(model, remaining_seconds)
        except LeaseLost:
            log.warning("training_lease_lost", model=model.model_id)
        except TimedOut:
            self._continue(model)
        except (TrainingFailed, EncoderNotInstalled) as failure:
            self._end(model, str(failure))
        except Exception as error:
            self._retry(model, error)
            raise

    def _train(self, model: Model, remaining_seconds: Callable[[], float]) -> None:
        """Train under a heartbeat and publish."""
        started = time.monotonic()
        leases = self._stores.leases
        dataset = self._dataset(model)
        with Heartbeat(lambda: leases.renew(model), self._settings.lease_seconds) as beat:
            progress = _Progress(self._stores, model, beat, remaining_seconds)
            texts = self._stores.examples.read(model, dataset)
            fitted = self._fit(model, texts, progress)
            beat.check()
            self._stores.files.put_curve(model, fitted.curve)
            entries = self._stores.guards.of_run(model)
            beat.check()
            self._publish(model, fitted, texts, started)
        self._release(model, entries)

    def _fit(self, model: Model, texts: TrainingTexts, progress: _Progress) -> Fitted:
        """Get the vectors and learn."""
        from chalicelib.engines.text.run import Vectors, Watchers, train_text

        names = encoder_names(model.language, model.request.algorithm)
        vectors = Vectors(
            encoders=[self._embedder.encoders.get(name) for name in names],
            of_texts=lambda name: self._vectors(texts, name, names.index(name), progress, names),
            of_phrases=self._embedder.embed,
        )
        watchers = Watchers(progress.on_curve, progress.on_fit)
        return train_text(model, texts, vectors, watchers, self._clock())

    def _vectors(
        self,
        texts: TrainingTexts,
        name: str,
        place: int,
        progress: _Progress,
        names: Sequence[str],
    ) -> Floats:
        """Collect the vectors of every dataset's texts, in the order of the texts."""
        import numpy as np

        blocks, start = [], 0
        for dataset_id, count in texts.spans:
            part = texts.texts[start : start + count]

            def check(done: int, total: int) -> None:
                progress.on_embed((place + done / max(1, total)) / len(names))

            blocks.append(self._embedder.vectors(dataset_id, name, part, check))
            start += count
        return np.concatenate(blocks)

    def _publish(self, model: Model, fitted: Fitted, texts: TrainingTexts, started: float) -> None:
        """Write a version whole, then switch the model's row to it."""
        saving = time.monotonic()
        version = f"r{model.run}-{model.fence}"
        documents = {METRICS: fitted.metrics, CARD: fitted.card}
        self._stores.files.put_version(model, version, fitted.artifact, documents)
        now = time.monotonic()
        stats = TrainStats(
            labels=len(texts.labels),
            examples=len(texts.texts),
            total_seconds=round(now - started, 3),
            training_seconds=round(fitted.fit_seconds, 3),
            save_seconds=round(now - saving, 3),
            load_seconds=round(saving - started - fitted.fit_seconds, 3),
            early_stopping=fitted.report.early_stopping,
            last_epoch=fitted.report.epochs,
            train_size=fitted.report.training_examples,
            test_size=fitted.report.test_examples,
        )
        try:
            self._stores.leases.succeed(model, version, stats)
        except LeaseLost:
            # Nobody else knows this version, and its model may have been deleted meanwhile.
            self._stores.files.delete_version(model, version)
            raise
        log.info("training_done", model=model.model_id, seconds=stats.total_seconds)

    def _dataset(self, model: Model) -> Dataset:
        """Read the dataset.

        Raises:
            TrainingFailed: it was deleted.
        """
        dataset = self._stores.datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise TrainingFailed(
                f"Dataset {model.dataset_id} was deleted before the training began. "
                "Train a model from another dataset."
            )
        return dataset

    def _continue(self, model: Model) -> None:
        """Give the run to the next function; what was embedded so far is kept."""
        self._stores.leases.release(model, counts=False)
        queue = TRAIN_PAID if model.is_paid else TRAIN_FREE
        self._stores.queues.send(queue, train_job(model))

    def _end(self, model: Model, message: str) -> None:
        """End the run as FAILED."""
        entries = self._stores.guards.of_run(model)
        try:
            self._stores.leases.fail(model, message)
        except LeaseLost:
            log.warning("training_lease_lost", model=model.model_id)
            return
        self._release(model, entries)

    def _release(self, model: Model, entries: frozenset[str]) -> None:
        """Remove the guards of a run that has ended; what stays is taken for a left-over."""
        try:
            self._stores.guards.release(model, entries)
        except StorageUnavailable:
            log.warning("unguard_failed", model=model.model_id)

    def _retry(self, model: Model, error: Exception) -> None:
        """Give the run back to the queue, or end it when it is out of attempts."""
        cause = f"{type(error).__name__}: {error}"
        log.error("training_failed", error, model=model.model_id)
        try:
            if model.attempts >= self._settings.max_attempts:
                self._end(model, self._gave_up(model, cause))
            else:
                self._stores.leases.release(model, cause)
        except StorageUnavailable:
            log.warning("release_failed", model=model.model_id)

    def _gave_up(self, model: Model, cause: str) -> str:
        """Say why a run is out of attempts."""
        attempts = min(model.attempts, self._settings.max_attempts)
        return (
            f"Training stopped after {attempts} attempts{f': {cause}' if cause else ''}. "
            "Train again; if it fails again, upload the dataset anew."
        )


class _Progress:
    """Reports how far a run has come, not more often than worth it, and stops it in time."""

    def __init__(
        self,
        stores: RunStores,
        model: Model,
        beat: Heartbeat,
        remaining_seconds: Callable[[], float],
    ) -> None:
        self._stores = stores
        self._model = model
        self._beat = beat
        self._remaining = remaining_seconds
        self._epochs = 0
        self._reported_at = 0.0
        self._shown = model.progress

    def on_embed(self, share: float) -> None:
        """Note the share of vectors that are there.

        Raises:
            LeaseLost: another worker owns the run.
            TimedOut: the function's time is nearly up.
        """
        if self._remaining() < RESERVE_SECONDS:
            raise TimedOut("The embeddings are not finished; the next function goes on.")
        self._report(_EMBED_SHARE * share)

    def on_fit(self, share: float) -> None:
        """Note the share of the fit that is done.

        Raises:
            LeaseLost: another worker owns the run.
        """
        self._report(_EMBED_SHARE + _FIT_SHARE * share)

    def on_curve(self, records: list[dict[str, Any]]) -> None:
        """Note the epochs that are done.

        Raises:
            LeaseLost: another worker owns the run.
        """
        self._beat.check()
        self._epochs = len(records)
        if self._is_due():
            self._stores.files.put_curve(self._model, records)

    def _report(self, share: float) -> None:
        """Write the progress when the last report is old enough; it never falls."""
        self._beat.check()
        if self._is_due() and share > self._shown:
            self._reported_at = time.monotonic()
            self._shown = share
            self._stores.leases.report(self._model, share, self._epochs)

    def _is_due(self) -> bool:
        """Tell whether the last report is old enough."""
        return time.monotonic() - self._reported_at >= REPORT_SECONDS
