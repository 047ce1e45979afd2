"""Resends jobs that stopped because a message was lost, a worker died or a call was interrupted.

The sweep runs on a schedule. Sending a job twice is harmless, because its handler takes a lease.
The handler ends a job that has no attempts left. So no job stays UPLOADING, QUEUED or RUNNING.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import DELETION_PENDING, FAMILY_TYPES, Dataset
from chalicelib.domain.jobs.deletion import DATASET, MODEL, Deletion, deletion_of
from chalicelib.domain.jobs.messages import DeleteJob, IngestJob, TrainJob
from chalicelib.domain.models.model import OPEN
from chalicelib.stores.jobs.queues import DELETE, Queues
from chalicelib.stores.jobs.turns import INGEST_LANES, IngestQueue, TrainingQueue, TurnStore

if TYPE_CHECKING:
    from chalicelib.stores.accounts.accounts import AccountStore
    from chalicelib.stores.accounts.api_keys import ApiKeyStore
    from chalicelib.stores.accounts.quotas import QuotaStore
    from chalicelib.stores.accounts.webhooks import WebhookStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.jobs.deletions import DeletionStore
    from chalicelib.stores.jobs.exports import ExportStore
    from chalicelib.stores.jobs.guards import GuardStore
    from chalicelib.stores.models.models import ModelStore
    from chalicelib.stores.models.places import QueuePlaces

# A job that has not started is sent again after this time, in seconds. Until then its message
# may still be waiting in the queue.
ANNOUNCED_SECONDS = 900.0


@dataclass(frozen=True, kw_only=True)
class SweepServiceStores:
    """Stores used by `SweepService`."""

    accounts: AccountStore
    datasets: DatasetStore
    deletions: DeletionStore
    exports: ExportStore
    guards: GuardStore
    ingest_queue: IngestQueue
    models: ModelStore
    places: QueuePlaces
    queues: Queues
    quotas: QuotaStore
    training_queue: TrainingQueue
    turns: TurnStore
    webhooks: WebhookStore
    api_keys: ApiKeyStore


class SweepService:
    """Resumes or ends work that no worker is running."""

    def __init__(
        self,
        stores: SweepServiceStores,
        clock: Clock,
        settings: Settings,
        announce_deliveries: Callable[[], int] = lambda: 0,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._settings = settings
        self._announce_deliveries = announce_deliveries

    def run(self) -> int:
        """Resend the jobs of abandoned work, delete expired data, and end deletions.

        The expired data belongs to closed accounts and to old exports. A deletion ends once the
        presigned URLs of its images have expired.

        Returns:
            The number of jobs sent plus the number of objects deleted or ended.
        """
        now = to_milliseconds(self._clock())
        # Twice the lease: a worker that only renews late is not taken for dead.
        dead_before = now - round(2000 * self._settings.lease_seconds)
        announced_before = now - round(1000 * ANNOUNCED_SECONDS)
        sent = self._announce_uploads(dead_before, announced_before)
        sent += self._announce_trainings(dead_before, announced_before)
        sent += self._announce_deletions(dead_before) + self._delete_closed_accounts()
        sent += self._announce_exports(dead_before, announced_before)
        sent += self._stores.deletions.end_waiting() + self._stores.exports.delete_expired()
        sent += self._announce_deliveries()
        if sent:
            log.info("swept", sent=sent)
        return sent

    def count_places(self) -> bool:
        """Count the waiting trainings, to compute their queue positions.

        Returns:
            Whether the number of waiting trainings is so large that they must be counted often.
        """
        return self._stores.places.count()

    def _announce_uploads(self, dead_before: int, announced_before: int) -> int:
        """Resend the jobs of abandoned uploads (`DatasetStore.claim_lost`); return their number."""
        lost = self._stores.datasets.claim_lost(INGEST_LANES, dead_before, announced_before)
        for dataset in lost:
            self._stores.ingest_queue.announce(IngestJob.of(dataset))
        return len(lost)

    def _announce_trainings(self, dead_before: int, announced_before: int) -> int:
        """Resend the jobs of abandoned trainings; return their number."""
        lost = self._stores.models.claim_lost(dead_before, announced_before)
        for model in lost:
            self._stores.training_queue.announce(TrainJob.of(model))
        return len(lost)

    def _announce_exports(self, dead_before: int, announced_before: int) -> int:
        """Resend the jobs of abandoned exports and batches; return their number."""
        lost = self._stores.exports.claim_lost(dead_before, announced_before)
        for queue, job in lost:
            self._stores.queues.send(queue, job)
        return len(lost)

    def _announce_deletions(self, older_than: int) -> int:
        """Resend the jobs of deletions that are not making progress; return their number.

        If a call died before it wrote the deletion record, the record is created.
        """
        stale = self._stores.deletions.claim_stale(older_than)
        for dataset in self._stores.datasets.claim_deleted(older_than):
            stale.append(
                deletion_of(dataset.account_id, DATASET, str(dataset.dataset_id), dataset.family)
            )
        for model in self._stores.models.claim_hidden(older_than):
            stale.append(deletion_of(model.account_id, MODEL, model.model_id))
        for deletion in stale:
            self._start(deletion)
        return len(stale)

    def _delete_closed_accounts(self) -> int:
        """Delete closed accounts whose retention period has ended: their data, then their rows.

        Returns:
            The number of deletions that were started.
        """
        started = 0
        for account in self._stores.accounts.list_due(self._clock()):
            started += self._start_deletions(account.account_id)
            # The deletions take several sweeps, and the account must exist until its data is gone.
            if self._is_empty(account.account_id):
                self._stores.exports.delete_of_account(account.account_id)
                self._stores.quotas.delete_all(account.account_id)
                self._stores.webhooks.delete_all(account.account_id)
                self._stores.api_keys.delete_all(account.account_id)
                self._stores.accounts.delete(account)
                self._stores.turns.delete(account.account_id)
                self._stores.datasets.delete_places(account.account_id)
        return started

    def _is_empty(self, account_id: str) -> bool:
        """Return whether an account has neither datasets nor models."""
        datasets = any(self._stores.datasets.of_account(account_id, f, 1) for f in FAMILY_TYPES)
        return not datasets and not self._stores.models.of_account(account_id)

    def _start_deletions(self, account_id: str) -> int:
        """Start to delete datasets and models that no training uses; return their number."""
        started = 0
        for family in FAMILY_TYPES:
            for dataset in self._stores.datasets.of_account(account_id, family):
                if dataset.status != DELETION_PENDING:
                    is_started = self._start_dataset(dataset)
                    object_id = str(dataset.dataset_id)
                    started += is_started
                    if is_started:
                        self._start(deletion_of(account_id, DATASET, object_id, family))
        for model in self._stores.models.of_account(account_id):
            if model.status not in OPEN and self._stores.models.start_deletion(model):
                started += 1
                self._start(deletion_of(account_id, MODEL, model.model_id))
        return started

    def _start_dataset(self, dataset: Dataset) -> bool:
        """Mark a dataset for deletion, unless a training uses it; return whether it is marked."""
        if self._stores.datasets.start_deletion(dataset):
            return True
        # The lookup removes guards of ended trainings, after which a second attempt may succeed.
        is_guarded = self._stores.guards.guarding(dataset) is not None
        return not is_guarded and self._stores.datasets.start_deletion(dataset)

    def _start(self, deletion: Deletion) -> None:
        """Create the deletion record if it is missing, and send the job."""
        record = self._stores.deletions.create(deletion)
        self._stores.queues.send(DELETE, DeleteJob.of(record))
