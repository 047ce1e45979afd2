"""Exports: their rows, leases, and files in the bucket.

The key of a file begins with the id of its dataset or model, so the file is deleted with the
dataset or model. The key ends with the fence token of the worker that wrote the file. So a stalled
worker cannot overwrite the file of another worker.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import BinaryIO

from pynamodb.expressions.update import Action

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.jobs.export import FAILED, SUCCEEDED, Export, ExportedModel
from chalicelib.domain.jobs.messages import BatchJob, ExportJob, Job, LearnJob
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.moments import is_announced_before, lease_is_over
from chalicelib.stores.aws.objects import batch_prefix, exports_prefix, page_images_prefix
from chalicelib.stores.aws.rows import load
from chalicelib.stores.aws.tables import ExportRow
from chalicelib.stores.jobs.queues import EMBED, EXPORT
from chalicelib.stores.jobs.row_leases import ENDED, OPEN, FileJobStore

# Kind of the rows of jobs that learn templates, which share this table.
LEARNING = "template"
# Kind of the rows of exported models.
MODEL = "model"
# Marks the rows of page images, which share the table and its index of expired files. Their hash
# key is the account id with this suffix, so that lists of exports do not read them.
PAGE_IMAGES, PAGES_OWNER = "pages", "#pages"
# Kinds of the rows of exports. Exports of datasets have no kind.
_KINDS = (None, MODEL)


@translate_errors
class ExportStore(FileJobStore[Export]):
    """Reads exports, and changes their state by single conditional writes.

    Times of arguments are in milliseconds since 1970.
    """

    _kinds = _KINDS

    def create(self, export: Export) -> None:
        """Store a new export as QUEUED."""
        row = self._row(export)
        row.family, row.dataset_id = export.family, export.dataset_id
        row.format, row.source = export.format, export.source
        if export.model is not None:
            row.kind, row.source = MODEL, json.dumps(asdict(export.model))
        self._create(row, export.created_at, export.expires_at)

    def of_account(self, account_id: str) -> list[Export]:
        """Return the exports of an account that are in progress or can be downloaded."""
        now = to_milliseconds(self._clock())
        # Exports of datasets have no kind.
        wanted = ExportRow.kind.does_not_exist() | (ExportRow.kind == MODEL)
        rows = ExportRow.query(account_id, consistent_read=True, filter_condition=wanted)
        return [_load(row) for row in rows if row.due_at > now and row.status != FAILED]

    def put_file(self, export: Export, file: BinaryIO) -> None:
        """Write the file of an attempt. The file can be downloaded after `finish`."""
        self._artifacts.put_object(_key(export), file, lambda: self.renew(export))

    def finish(self, export: Export, examples: int, size_bytes: int) -> None:
        """End an export as SUCCEEDED.

        Raises:
            LeaseLost: another worker owns the export, or it was deleted.
        """
        counts = [ExportRow.examples.set(examples), ExportRow.size_bytes.set(size_bytes)]
        self._end(export, SUCCEEDED, counts)

    def url(self, export: Export) -> str:
        """Return a URL of the file, valid for 30 minutes."""
        return self._artifacts.url(_key(export), export.file_name)

    def claim_lost(self, dead_before: int, announced_before: int) -> list[tuple[str, Job]]:
        """Return jobs in the table of exports, if their messages seem to be lost.

        Unfinished exports and template learnings that have expired are deleted instead. The current
        time is stored in each row, so that a simultaneous sweep returns other jobs.

        Args:
            dead_before: time in milliseconds since 1970. A job whose worker died is returned if its
                last message was sent before this time.
            announced_before: the corresponding time for a job that no worker has started, and for a
                batch whose parts make no progress.

        Returns:
            The queue's name and the job, for each message to send again.
        """
        now = to_milliseconds(self._clock())
        nudged = ExportRow.nudged_at
        died = lease_is_over(ExportRow.lease_until, now) & (ExportRow.attempts > 0)
        lost = died & is_announced_before(nudged, dead_before, now)
        waits = ExportRow.attempts == 0
        lost |= waits & is_announced_before(nudged, announced_before, now)
        unfinished = lost & (ExportRow.open == OPEN)
        actions: list[Action] = [ExportRow.nudged_at.set(now)]
        rows = list(ExportRow.open_index.query(OPEN, filter_condition=lost))
        # An expired batch is not deleted here: its reserved predictions must be released first.
        late = [row for row in rows if row.due_at < now and row.kind in (*_KINDS, LEARNING)]
        self._delete_all(late)
        waiting = [row for row in rows if row not in late]
        return [_job(row) for row in waiting if try_update(row, actions, unfinished)]

    def delete_expired(self) -> int:
        """Delete the rows and files of ended jobs that have expired; return the number of jobs."""
        now = to_milliseconds(self._clock())
        return self._delete_all(list(ExportRow.open_index.query(ENDED, ExportRow.due_at < now)))

    def delete_of_account(self, account_id: str) -> None:
        """Delete all exports, batches and learned templates of an account, with their files."""
        self._delete_all(list(ExportRow.query(account_id, consistent_read=True)))

    def _row(self, job: Export) -> ExportRow:
        return ExportRow(job.account_id, job.export_id)

    def _load(self, row: ExportRow) -> Export:
        return _load(row)

    def _delete_all(self, rows: list[ExportRow]) -> int:
        for row in rows:
            prefix = _prefix(row)
            self._artifacts.delete_prefix(prefix)
            ExportRow(row.account_id, row.export_id).delete()
            if row.open == OPEN:
                # What its worker has written meanwhile can no longer be published.
                self._artifacts.delete_prefix(prefix)
        return len(rows)

    def delete(self, export: Export) -> None:
        """Delete an export with the files of all attempts. A missing export is ignored."""
        self._artifacts.delete_prefix(_files(export))
        self._row(export).delete()

    def delete_of_model(self, account_id: str, model_id: str) -> None:
        """Delete all exports of a model, including exports that workers are writing."""
        rows = ExportRow.query(
            account_id, consistent_read=True, filter_condition=ExportRow.kind == MODEL
        )
        for export in [_load(row) for row in rows]:
            if export.model is not None and export.model.model_id == model_id:
                # The row first: a worker that still writes can then publish nothing.
                self._row(export).delete()
        self._artifacts.delete_prefix(exports_prefix(model_id))

    def used_versions(self, account_id: str, model_id: str) -> frozenset[str]:
        """Return the version folders of a model that unfinished exports use."""
        return frozenset(
            export.model.folder
            for export in self.of_account(account_id)
            if export.model is not None
            and export.model.model_id == model_id
            and export.status != SUCCEEDED
        )


def _files(export: Export) -> str:
    owner = export.dataset_id if export.model is None else export.model.model_id
    return f"{exports_prefix(owner)}{export.export_id}-"


def _key(export: Export) -> str:
    return f"{_files(export)}{export.fence}"


def _prefix(row: ExportRow) -> str:
    """Return the prefix that the keys of a row's files have in common."""
    if row.kind == PAGE_IMAGES:
        account_id = row.account_id.removesuffix(PAGES_OWNER)
        return f"{page_images_prefix(account_id)}{row.export_id}/"
    return _files(_load(row)) if row.kind in _KINDS else batch_prefix(row.export_id)


def _job(row: ExportRow) -> tuple[str, Job]:
    if row.kind in _KINDS:
        return EXPORT, ExportJob.of(_load(row))
    if row.kind == LEARNING:
        return EMBED, LearnJob(account_id=row.account_id, learning_id=row.export_id)
    return EMBED, BatchJob(account_id=row.account_id, batch_id=row.export_id)


def _load(row: ExportRow) -> Export:
    model = ExportedModel(**json.loads(row.source)) if row.kind == MODEL else None
    return load(
        Export,
        row,
        source=row.source if model is None else "",
        expires_at=from_milliseconds(row.due_at),
        model=model,
    )
