"""Runs deletions of datasets and models: deletes all rows and files. The deletion record stays.

Every step may be repeated. So the job may be delivered twice, or another worker may resume it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chalicelib import log
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.deletion import MODEL, TRACES, Deletion
from chalicelib.domain.jobs.lease import is_owned
from chalicelib.domain.jobs.messages import DeleteJob
from chalicelib.domain.models.evaluation import without_evaluated
from chalicelib.domain.models.redaction import without_examples, without_names
from chalicelib.domain.models.suspects import suspects_document
from chalicelib.stores.jobs.queues import DELETE, Queues

if TYPE_CHECKING:
    from chalicelib.stores.datasets.contents import DatasetContents
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.deletions import DeletionStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.jobs.exports import ExportStore
    from chalicelib.stores.models.models import ModelStore
    from chalicelib.stores.models.versions import ModelCards, ModelVersions

# Pause before the next attempt while a model is adjusted, in seconds.
_WAIT_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class DeletionRunServiceStores:
    """Stores used by `DeletionRunService`."""

    contents: DatasetContents
    datasets: DatasetStore
    deletions: DeletionStore
    events: Events
    exports: ExportStore
    labels: LabelStore
    model_cards: ModelCards
    model_files: ModelVersions
    models: ModelStore
    queues: Queues
    capacity: CapacityStore


class DeletionRunService:
    """Runs the deletion jobs that the queue delivers."""

    def __init__(
        self,
        stores: DeletionRunServiceStores,
        clock: Clock,
        clear_traces: Callable[[str, str, int], int],
    ) -> None:
        """Store the dependencies.

        `clear_traces` deletes data that was replaced by corrections of a dataset. It returns the
        seconds until the next attempt, 0 if nothing is left.
        """
        self._stores = stores
        self._clock = clock
        self._clear_traces = clear_traces

    def run(self, job: DeleteJob) -> None:
        """Run one deletion, unless it has ended or another worker owns it."""
        deletion = self._stores.deletions.acquire(job.account_id, job.deletion_id)
        if deletion is None:
            return
        try:
            is_known = self._is_known(deletion)
            done = self._delete(deletion)
        except Exception:
            self._stores.deletions.release(deletion)
            raise
        if done is not None:
            if is_known:
                # Before the last write: after a crash in between, the retry emits the event again.
                self._emit(deletion)
            self._stores.deletions.finish(done)
            log.info("deleted", kind=deletion.kind, object=deletion.object_id)

    def _emit(self, deletion: Deletion) -> None:
        """Emit the event `deletion.done`, without waiting until presigned URLs have expired."""
        data = {"id": deletion.deletion_id, "type": deletion.kind}
        data["deletedObjectId"] = deletion.object_id
        self._stores.events.emit(deletion.account_id, "deletion.done", **data)

    def _is_known(self, deletion: Deletion) -> bool:
        """Return whether the account could see the deleted object. If not, no event is sent."""
        account_id, object_id = deletion.account_id, deletion.object_id
        if deletion.kind == MODEL:
            return not self._stores.models.is_unfinished(account_id, object_id)
        if deletion.kind == TRACES:
            return False
        dataset = self._stores.datasets.find_deleted(account_id, deletion.family, int(object_id))
        return dataset is None or not dataset.is_unfinished

    def _delete(self, deletion: Deletion) -> Deletion | None:
        """Delete the rows and files of an object; return None if the deletion was postponed."""
        if deletion.kind == MODEL:
            self._delete_model(deletion)
            return deletion
        dataset_id = int(deletion.object_id)
        if deletion.kind == TRACES:
            again = self._clear_traces(deletion.account_id, deletion.family, dataset_id)
            if again:
                self._postpone(deletion, again)
            return None if again else deletion
        # A repeated job must not delete the dataset that a later attempt at the call has created.
        key = deletion.account_id, deletion.family, dataset_id
        if (dataset := self._stores.datasets.find_deleted(*key)) is None:
            return deletion
        wait_seconds = self._writer_seconds(dataset)
        if wait_seconds > 0:
            self._postpone(deletion, wait_seconds)
            return None
        return self._delete_dataset(deletion, dataset)

    def _postpone(self, deletion: Deletion, seconds: int) -> None:
        """Release the lease of a deletion, and send its job again after some seconds."""
        self._stores.deletions.release(deletion)
        self._stores.queues.send(DELETE, DeleteJob.of(deletion), seconds)

    def _delete_model(self, deletion: Deletion) -> None:
        if not self._stores.models.is_hidden(deletion.account_id, deletion.object_id):
            return
        self._stores.deletions.report(deletion, 0.5)
        self._stores.exports.delete_of_model(deletion.account_id, deletion.object_id)
        self._stores.model_files.delete(deletion.object_id)
        # The row last: while it exists, a repeated job finds what is left.
        counted = self._stores.capacity.read_version(deletion.account_id)
        size_bytes = self._stores.models.delete(deletion.account_id, deletion.object_id)
        self._stores.capacity.settle(deletion.account_id, counted, -size_bytes)

    def _delete_dataset(self, deletion: Deletion, dataset: Dataset) -> Deletion | None:
        """Delete a dataset, and remove its examples from the cards of models.

        If an adjustment is copying a card, postpone the deletion and return None. Otherwise return
        the deletion with the time at which the last presigned URL expires.
        """
        stores = self._stores

        def report(share: float) -> None:
            stores.deletions.report(deletion, round(0.05 + 0.9 * share, 4))

        # No more URLs are issued, so this expiry is final. The record outlives the dataset's row.
        urls_until = stores.datasets.urls_until(dataset)
        if urls_until:
            stores.deletions.note_urls(deletion, urls_until)
        if not self._redact_cards(dataset):
            self._postpone(deletion, _WAIT_SECONDS)
            return None
        stores.contents.delete(dataset.dataset_id, stores.datasets.label_ids(dataset), report)
        if stores.datasets.delete(dataset):
            stores.capacity.end_upload(dataset, has_data=False)
            stores.capacity.release_bytes(dataset.account_id, dataset.bytes)
        return replace(deletion, urls_until=urls_until)

    def _redact_cards(self, dataset: Dataset) -> bool:
        """Remove a dataset's examples from cards; return False if a card is being copied."""
        stores = self._stores
        known = stores.labels.all_names(dataset.counts).values()
        names = frozenset(name for one in known for name in (one.name, *one.former))
        return stores.model_cards.change_all(
            dataset.account_id, dataset.dataset_id, lambda document: _redacted(document, names)
        )

    def _writer_seconds(self, dataset: Dataset) -> int:
        """Return how many seconds a worker may still write to the dataset; 0 if no worker runs."""
        until = self._stores.datasets.lease_until(dataset)
        now = to_milliseconds(self._clock())
        # Rounded up, so that the job does not come back before the lease has ended.
        return -(-(until - now) // 1000) if is_owned(until, now) else 0


def _redacted(document: Any, labels: frozenset[str]) -> Any:
    """Return a card, report or curve block without the data of a deleted dataset's examples."""
    if isinstance(document, list):
        return [
            {**record, "epochResults": without_names(record.get("epochResults", {}))}
            for record in document
        ]
    if document.get("object") == "suspects":
        return suspects_document(())
    if document.get("object") == "evaluation":
        return without_evaluated(document)
    if "dataReport" not in document:
        return document
    return {**document, "dataReport": without_examples(document["dataReport"], labels)}
