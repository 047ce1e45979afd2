"""The queue of uploads. Accounts take turns, and paid plans come first."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.datasets.upload import QueuedUpload
from chalicelib.domain.jobs.messages import IngestJob
from chalicelib.domain.jobs.turns import Turn
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.leases import DatasetLeases, OwnedDataset
from chalicelib.stores.jobs import queues
from chalicelib.stores.jobs.turn_queue import TurnQueue
from chalicelib.stores.jobs.turns import INGEST, INGEST_LANES, TurnStore, lane_of


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
        """Return the turn of a new upload, which comes after the account's other uploads."""
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
