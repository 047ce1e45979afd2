"""Starts deletions and returns their status. A worker of the queue runs them.

Spec: States, Deletion behaviour.
"""

from __future__ import annotations

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.paging import ListFilter
from chalicelib.domain.datasets.dataset import FAILED
from chalicelib.domain.jobs.deletion import DATASET, MODEL, TRACES, Deletion, deletion_of
from chalicelib.domain.jobs.messages import DeleteJob
from chalicelib.errors import (
    DatasetInTraining,
    DatasetNotFound,
    DeletionNotFound,
    ModelBusy,
    ModelNotFound,
)
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.jobs.deletions import DeletionStore
from chalicelib.stores.jobs.guards import GuardStore
from chalicelib.stores.jobs.queues import DELETE, Queues, retried_by_sweep
from chalicelib.stores.models.models import ModelStore


class DeletionService:
    """Starts the deletion of datasets and models, and hides them from all calls at once."""

    def __init__(
        self,
        datasets: DatasetStore,
        models: ModelStore,
        guards: GuardStore,
        deletions: DeletionStore,
        queues: Queues,
    ) -> None:
        self._datasets = datasets
        self._models = models
        self._guards = guards
        self._deletions = deletions
        self._queues = queues

    def delete_dataset(self, account: Account, family: str, dataset_id: int) -> Deletion:
        """Start the deletion of a dataset; if it has begun already, return its record.

        Raises:
            DatasetNotFound: the account never had this dataset.
            DatasetInTraining: a model of the dataset is QUEUED or RUNNING.
        """
        deletion = deletion_of(account.account_id, DATASET, str(dataset_id), family)
        dataset = self._datasets.find(account.account_id, family, dataset_id)
        if dataset is None:
            found = self._deletions.find(account.account_id, deletion.deletion_id)
            if found is None or found.family != family:
                raise DatasetNotFound(dataset_id)
            return found
        # Refused while a training guards the dataset. Guards of ended trainings are removed by the
        # lookup, so the loop ends.
        while not self._datasets.start_deletion(dataset):
            guard = self._guards.guarding(dataset)
            if guard is not None:
                raise DatasetInTraining(dataset_id, *guard)
        return self._start(deletion)

    def delete_failed(self, account: Account, family: str, limit: int) -> list[Deletion]:
        """Start the deletion of up to `limit` datasets with a failed first upload, oldest first."""
        owner = account.account_id
        ids = self._datasets.ids(owner, family, ListFilter(status=FAILED))
        deleted: list[Deletion] = []
        while ids and len(deleted) < limit:
            part, ids = ids[:limit], ids[limit:]
            for dataset in self._datasets.find_many(owner, family, part):
                # A dataset that had examples before a later upload failed is available again.
                is_empty = not dataset.available and not dataset.total
                if dataset.status == FAILED and is_empty and len(deleted) < limit:
                    deleted.append(self.delete_dataset(account, family, dataset.dataset_id))
        return deleted

    def delete_model(self, account: Account, model_id: str) -> Deletion:
        """Start the deletion of a model; if it has begun already, return its record.

        Raises:
            ModelNotFound: the account never had this model.
            ModelBusy: the model is QUEUED or RUNNING.
        """
        if STRING_ID.fullmatch(model_id) is None:
            raise ModelNotFound(model_id[:100])
        deletion = deletion_of(account.account_id, MODEL, model_id)
        model = self._models.find(account.account_id, model_id)
        if model is None:
            found = self._deletions.find(account.account_id, deletion.deletion_id)
            if found is not None:
                return found
            # The row is hidden before its record is written, so a call that died in between left no
            # record.
            if not self._models.is_hidden(account.account_id, model_id):
                raise ModelNotFound(model_id)
            return self._start(deletion)
        if not self._models.start_deletion(model):
            current = self._models.find(account.account_id, model_id) or model
            raise ModelBusy(model_id, current.status, "deleted")
        return self._start(deletion)

    def get(self, account_id: str, deletion_id: str) -> Deletion:
        """Return a deletion; raise DeletionNotFound if the account has no such deletion."""
        is_id = STRING_ID.fullmatch(deletion_id) is not None
        found = self._deletions.find(account_id, deletion_id) if is_id else None
        if found is None or found.kind == TRACES:
            raise DeletionNotFound(deletion_id[:100])
        return found

    def _start(self, deletion: Deletion) -> Deletion:
        record = self._deletions.create(deletion)
        with retried_by_sweep("delete", deletion=record.deletion_id):
            self._queues.send(DELETE, DeleteJob.of(record))
        return record
