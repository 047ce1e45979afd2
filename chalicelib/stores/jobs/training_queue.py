"""The queue of trainings. Accounts take turns, and paid plans have a separate lane."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib import log
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.messages import TrainJob, TrainPartJob
from chalicelib.domain.jobs.turns import Turn, in_turn, running_jobs
from chalicelib.domain.models.model import OPEN, Model
from chalicelib.errors import PartsSent, StorageUnavailable
from chalicelib.stores.jobs.queues import EMBED, TRAIN_FREE, TRAIN_PAID, Queues
from chalicelib.stores.jobs.turn_queue import TurnQueue
from chalicelib.stores.jobs.turns import TRAIN, TurnStore, lane_of
from chalicelib.stores.models.leases import ModelLeases
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.run_parts import part_key

# Seconds that a training runs before it may have to yield to another.
TURN_SECONDS = 15.0
# Seconds that a training waits without progress of its parts; then it does them itself.
PARTS_SECONDS = 300.0
# A training yields only to one that has waited this long: before, an idle worker may start it.
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
        """Return the turn of a new training, which comes after the account's other trainings."""
        return self._turns.take(lane_of(TRAIN, is_paid=is_paid), account_id).number

    def announce(self, job: TrainJob, delay_seconds: int = 0) -> None:
        """Send a message that a training is waiting."""
        self._queues.send(TRAIN_PAID if job.is_paid else TRAIN_FREE, job, delay_seconds)

    def return_to_queue(self, model: Model, served_seconds: float) -> None:
        """Put an unfinished training into the queue again, with a new turn."""
        turn = self.turn(model.account_id, is_paid=model.is_paid)
        self._leases.return_to_queue(model, turn, served_seconds)
        self.announce(TrainJob.of(model))

    def wait_for_parts(self, model: Model, served_seconds: float, sent: PartsSent) -> bool:
        """Pause a training, and send its parts to other workers; return False if another owns it.

        A paused training counts as running. It keeps its turn, so it resumes first.
        """
        # Paused before its parts are announced, so that the worker of the last part can wake it.
        if not self._leases.return_to_queue(model, model.turn, served_seconds, PARTS_SECONDS):
            return False
        try:
            for number in range(sent.heads):
                self.send_part(model, part_key(model, sent.stage, number))
        except StorageUnavailable:
            log.warning("fan_out_failed", model=model.model_id)
        return True

    def send_part(self, model: Model, part: str) -> None:
        """Send the message of one part of a training."""
        self._queues.send(EMBED, TrainPartJob.of(model, part=part))

    def keep_waiting(self, model: Model, progress: float) -> None:
        """Extend the pause of a training whose parts are unfinished, and store the progress."""
        self._leases.pause_lease(model, PARTS_SECONDS, progress)

    def wake(self, model: Model) -> None:
        """Resume a training whose parts are all done."""
        if self._leases.pause_lease(model, 0.0):
            self.announce(TrainJob.of(model))

    def must_yield(self, model: Model, served_seconds: float) -> bool:
        """Return whether this worker should run a waiting training in place of its current one.

        A waiting training goes first if only it is on a paid plan, or if it has run for a much
        shorter time.
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
        """Return the running and the first waiting trainings in each lane that a worker serves.

        A worker for paid plans serves only the paid lane. Other workers serve both, paid first.
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
