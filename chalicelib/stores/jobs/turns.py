"""Assigns turns to uploads and trainings, and runs their queues (see domain/jobs/turns.py).

A lane is the queue of one kind of job and plan tier. A turn is a number: the jobs of a lane start
in ascending order of their turns. The counter of a lane has the turn of the job that started last.
The counter of an account has the turn of its newest job. The turn of a new job is one higher than
the turn of its account's newest job, but not below the counter of the lane. So if an account sends
a hundred jobs at once, only the first of them runs before jobs of other accounts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from chalicelib import log
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.upload import QueuedUpload
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import (
    IngestJob,
    Job,
    TrainJob,
    TrainPartJob,
    kind_of,
    postponed,
)
from chalicelib.domain.jobs.turns import Turn, Waiting, in_turn, running_jobs
from chalicelib.domain.models.model import OPEN, Model
from chalicelib.errors import PartsSent, StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import CounterRow
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.leases import DatasetLeases, OwnedDataset
from chalicelib.stores.jobs import queues
from chalicelib.stores.jobs.queues import EMBED, TRAIN_FREE, TRAIN_PAID, Queues, retried_by_sweep
from chalicelib.stores.models.leases import ModelLeases
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.run_parts import part_key

INGEST, TRAIN = "ingest", "train"


def lane_of(kind: str, *, is_paid: bool) -> str:
    """Return the name of the queue (lane) for INGEST or TRAIN jobs of paid or of free plans."""
    return f"{kind}-{'paid' if is_paid else 'free'}"


# Lanes of uploads; jobs of the first lane go before those of the second.
INGEST_LANES = lane_of(INGEST, is_paid=True), lane_of(INGEST, is_paid=False)
# Lanes of trainings; the first goes before the second and has separate workers, too.
TRAIN_LANES = lane_of(TRAIN, is_paid=True), lane_of(TRAIN, is_paid=False)


@translate_errors
class TurnStore:
    """Assigns a number (turn) to each job. The jobs of a lane (queue) start in this order."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def take(self, lane: str, account_id: str) -> Turn:
        """Assign a turn number to a new job. If the write is retried, a number may stay unused."""
        level = self._level(lane)
        row = _row(lane, account_id)
        while True:
            # One of the two conditions is true, unless another call adds a job of the account in
            # between.
            if try_update(row, [CounterRow.value.add(1)], CounterRow.value >= level):
                return Turn(lane, int(row.value))
            behind = CounterRow.value.does_not_exist() | (CounterRow.value < level)
            if try_update(row, [CounterRow.value.set(level)], behind):
                return Turn(lane, level)

    def begin(self, turn: Turn) -> None:
        """Set the counter of a queue to the turn of a starting job; never decrease the counter."""
        earlier = CounterRow.value.does_not_exist() | (CounterRow.value < turn.number)
        try_update(_row(turn.lane), [CounterRow.value.set(turn.number)], earlier)

    def delete(self, account_id: str) -> None:
        """Delete the counters of a deleted account."""
        for lane in INGEST_LANES + TRAIN_LANES:
            _row(lane, account_id).delete()

    def _level(self, lane: str) -> int:
        """Return the highest turn number of any job that has started in a queue (lane)."""
        row = _row(lane)
        missing = CounterRow.value.does_not_exist()
        try:
            row.refresh(consistent_read=True)
        except CounterRow.DoesNotExist:
            # A new lane starts at the current time. Jobs of older versions have their queueing
            # time in place of a turn, so they go first.
            now = to_milliseconds(self._clock())
            if try_update(row, [CounterRow.value.set(now)], missing):
                return now
            row.refresh(consistent_read=True)
        return int(row.value)


def _row(*names: str) -> CounterRow:
    return CounterRow("#".join(("turn", *names)))


Owned = TypeVar("Owned")
Queued = TypeVar("Queued", bound=Job)


class TurnQueue(ABC, Generic[Queued, Waiting, Owned]):
    """The queue of one kind of job, in which accounts take turns.

    A message means that some job is waiting. The worker that receives the message acquires the next
    job that may start, even if the message names another job. If the index does not show a new job
    yet, the worker acquires the job that the message names. A lane has the waiting jobs of one plan
    tier.
    """

    def __init__(self, turns: TurnStore, queues: Queues, clock: Clock, limit: int) -> None:
        """Store the dependencies.

        `limit` is the maximum number of running jobs of one account.
        """
        self._turns = turns
        self._queues = queues
        self._clock = clock
        self._limit = limit

    @abstractmethod
    def announce(self, job: Queued, delay_seconds: int = 0) -> None:
        """Send a message that a job is waiting."""

    @abstractmethod
    def _find(self, job: Queued) -> Waiting | None:
        """Return the job of a message; None if it has ended."""

    @abstractmethod
    def _job(self, waiting: Waiting) -> Queued:
        """Return the message for a waiting job."""

    @abstractmethod
    def _lanes(self, job: Queued) -> Sequence[Sequence[Waiting]]:
        """Return the waiting and running jobs of each queue that the receiver of `job` serves."""

    @abstractmethod
    def _own(self, job: Waiting) -> Owned | None:
        """Acquire a job, and record its turn in its queue; return None if a worker owns the job."""

    def acquire(self, job: Queued) -> Owned | None:
        """Acquire the next job that may start, in the queues (lanes) that this worker serves.

        `job` is the job that the worker's message names.

        Returns:
            The acquired job; None if no job may start.
        """
        now, own = self._now(), self._waiting(job)
        lanes = self._lanes(job)
        running = running_jobs((waiting for lane in lanes for waiting in lane), now)
        # A job that another worker acquires first is skipped, not waited for.
        for lane in lanes:
            for waiting in in_turn(lane, running, self._limit, now):
                if owned := self._own(waiting):
                    return owned
        if own is None:
            return None
        if running[own.account_id] >= self._limit:
            # A new message instead of an error, so that it never counts as a failed attempt.
            if again := postponed(job):
                self.announce(*again)
            return None
        # An index is eventually consistent, and may not show a job that was just accepted.
        return self._own(own)

    def announce_next(self, job: Queued, account_id: str) -> None:
        """Send a message for an account's next job, if the account was at its limit until now.

        Called after a job of the account has ended. Without this message, the next job would start
        only when its delayed message arrives, minutes later.

        `job` is the job of the received message. It determines the queues to search.
        """
        with retried_by_sweep(kind_of(job)):
            now, lanes = self._now(), self._lanes(job)
            jobs = [found for lane in lanes for found in lane if found.account_id == account_id]
            waiting = [found for found in jobs if not is_owned(found.lease_until, now)]
            # If several jobs end at once, possibly none of them sees that the limit was reached.
            # Then a delayed message starts the next job.
            if waiting and len(jobs) - len(waiting) >= self._limit - 1:
                self.announce(self._job(min(waiting, key=lambda found: found.turn)))

    def acquire_now(self, job: Queued) -> Owned | None:
        """Acquire a job at once, even if other jobs are before it in the queue.

        Returns:
            The acquired job; None if the job has ended or another worker owns it.
        """
        own = self._waiting(job)
        return None if own is None else self._own(own)

    def is_over(self, job: Queued) -> bool:
        """Return whether the job of a message has ended or its object was deleted."""
        return self._find(job) is None

    def announce_again(self, job: Queued) -> None:
        """Send a new message for a waiting job whose message was used to start another job."""
        with retried_by_sweep(kind_of(job)):
            if self._waiting(job) is not None:
                self.announce(job)

    def _waiting(self, job: Queued) -> Waiting | None:
        """Return the job of a message; None if it has ended or a worker is running it."""
        found = self._find(job)
        is_waiting = found is not None and not is_owned(found.lease_until, self._now())
        return found if is_waiting else None

    def _now(self) -> int:
        return to_milliseconds(self._clock())


class IngestQueue(TurnQueue[IngestJob, QueuedUpload, OwnedDataset]):
    """Sends messages for uploads, and finds the next upload to read."""

    def __init__(
        self,
        datasets: DatasetStore,
        leases: DatasetLeases,
        turns: TurnStore,
        sender: queues.Queues,
        *,
        clock: Clock,
        limit: int,
    ) -> None:
        super().__init__(turns, sender, clock, limit)
        self._datasets = datasets
        self._leases = leases

    def turn(self, account: Account) -> Turn:
        """Assign a turn to a new upload, after the turns of the account's earlier uploads."""
        lane = lane_of(INGEST, is_paid=account.is_paid)
        return self._turns.take(lane, account.account_id)

    def announce(self, job: IngestJob, delay_seconds: int = 0) -> None:
        """Send a message that an upload is waiting."""
        self._queues.send(queues.INGEST, job, delay_seconds)

    def _find(self, job: IngestJob) -> QueuedUpload | None:
        return self._datasets.find_queued(job.account_id, job.family, job.dataset_id, job.upload_id)

    def _job(self, waiting: QueuedUpload) -> IngestJob:
        return IngestJob.of(waiting)

    def _lanes(self, job: IngestJob) -> Sequence[Sequence[QueuedUpload]]:
        return [self._datasets.queued_uploads(lane) for lane in INGEST_LANES]

    def _own(self, job: QueuedUpload) -> OwnedDataset | None:
        key = job.account_id, job.family, job.dataset_id, job.upload_id
        owned = self._leases.acquire_upload(*key)
        if owned is not None and job.lane:
            self._turns.begin(Turn(job.lane, job.turn))
        return owned


# Seconds that a training runs before it may have to yield to another.
TURN_SECONDS = 15.0
# Seconds that a training waits while none of its parts is finished. Then it computes them itself.
PARTS_SECONDS = 300.0
# A training yields only to one that has waited this long. Until then, an idle worker may start it.
PATIENCE_MILLISECONDS = 5_000


class TrainingQueue(TurnQueue[TrainJob, Model, Model]):
    """Sends messages for trainings, and finds the next training to run."""

    def __init__(
        self,
        models: ModelStore,
        leases: ModelLeases,
        turns: TurnStore,
        sender: Queues,
        *,
        clock: Clock,
        limit: int,
    ) -> None:
        super().__init__(turns, sender, clock, limit)
        self._models = models
        self._leases = leases

    def turn(self, account_id: str, *, is_paid: bool) -> int:
        """Assign a turn to a new training, after the turns of the account's earlier trainings."""
        return self._turns.take(lane_of(TRAIN, is_paid=is_paid), account_id).number

    def announce(self, job: TrainJob, delay_seconds: int = 0) -> None:
        """Send a message that a training is waiting."""
        self._queues.send(TRAIN_PAID if job.is_paid else TRAIN_FREE, job, delay_seconds)

    def return_to_queue(self, model: Model, served_seconds: float) -> None:
        """Put an unfinished training into the queue again, with a new turn number."""
        turn = self.turn(model.account_id, is_paid=model.is_paid)
        self._leases.return_to_queue(model, turn, served_seconds)
        self.announce(TrainJob.of(model))

    def wait_for_parts(self, model: Model, served_seconds: float, parts: PartsSent) -> bool:
        """Pause a training, and send its parts to other workers.

        A paused training counts as running. It keeps its place in the queue, so it resumes first.

        Returns:
            False if another worker owns the training.
        """
        # Paused before its parts are announced, so that the worker of the last part can wake it.
        if not self._leases.return_to_queue(model, model.turn, served_seconds, PARTS_SECONDS):
            return False
        try:
            for number in range(parts.heads):
                self.send_part(model, part_key(model, parts.stage, number))
        except StorageUnavailable:
            log.warning("fan_out_failed", model=model.model_id)
        return True

    def send_part(self, model: Model, part: str) -> None:
        """Send the message of one part of a training."""
        self._queues.send(EMBED, TrainPartJob.of(model, part=part))

    def keep_waiting(self, model: Model, progress: float) -> None:
        """Make a paused training wait longer for its unfinished parts, and store its progress."""
        self._leases.pause_lease(model, PARTS_SECONDS, progress)

    def wake(self, model: Model) -> None:
        """Resume a training whose parts are all done."""
        if self._leases.pause_lease(model, 0.0):
            self.announce(TrainJob.of(model))

    def must_yield(self, model: Model, served_seconds: float) -> bool:
        """Return whether this worker should pause `model`, and run a waiting training first.

        A waiting training runs first if it is on a paid plan and `model` is not, or if it has run
        for a much shorter time than `model`.
        """
        if served_seconds < TURN_SECONDS:
            return False
        # This training must have run twice as long as the other one. So two trainings of equal
        # length alternate more and more rarely, and the cost of alternating stays small.
        now = self._now()
        waiting = [other for lane in self._lanes_up_to(model.is_paid) for other in lane]
        return any(
            other.is_paid > model.is_paid
            or served_seconds >= TURN_SECONDS + 2 * other.served_seconds
            for other in in_turn(waiting, running_jobs(waiting, now), self._limit, now)
            if other.queued_at and to_milliseconds(other.queued_at) <= now - PATIENCE_MILLISECONDS
        )

    def _find(self, job: TrainJob) -> Model | None:
        model = self._models.find(job.account_id, job.model_id)
        is_same = model is not None and model.run == job.run
        return model if model is not None and is_same and model.status in OPEN else None

    def _job(self, waiting: Model) -> TrainJob:
        return TrainJob.of(waiting)

    def _lanes(self, job: TrainJob) -> Sequence[Sequence[Model]]:
        return self._lanes_up_to(job.is_paid)

    def _lanes_up_to(self, is_paid: bool) -> Sequence[Sequence[Model]]:
        """Return the running and the first waiting trainings of each queue (lane) of a worker.

        A worker for paid plans serves only the paid queue. Other workers serve the paid queue, then
        the free queue.
        """
        running = self._models.running()
        return [
            [*(model for model in running if model.is_paid == lane), *self._models.queued(lane)]
            for lane in ((True,) if is_paid else (True, False))
        ]

    def _own(self, job: Model) -> Model | None:
        acquired = self._leases.acquire(job.account_id, job.model_id, job.run)
        if acquired is not None:
            lane = lane_of(TRAIN, is_paid=acquired.is_paid)
            self._turns.begin(Turn(lane, acquired.turn))
        return acquired
