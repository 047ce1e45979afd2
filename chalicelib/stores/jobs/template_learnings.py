"""Jobs that learn templates: rows in the table of exports, input and result in the bucket.

The objects are stored like those of a batch. The name of the result ends with the fence of the
worker that wrote it, so that a stalled worker cannot overwrite it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.jobs.export import FAILED, SUCCEEDED
from chalicelib.domain.jobs.template_learning import TemplateLearning
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.objects import ArtifactStore, batch_prefix
from chalicelib.stores.aws.tables import ExportRow
from chalicelib.stores.jobs.exports import LEARNING
from chalicelib.stores.jobs.row_leases import FileJobRows


@translate_errors
class LearningStore:
    """Reads jobs, and changes their state by single conditional writes."""

    def __init__(
        self, clients: Clients, artifacts: ArtifactStore, clock: Clock, settings: Settings
    ) -> None:
        clients.bind_tables()
        self._artifacts = artifacts
        self._clock = clock
        self._rows = FileJobRows(clock, settings)

    def create(self, learning: TemplateLearning) -> None:
        """Store a new job as QUEUED."""
        row = _row(learning)
        row.kind, row.family, row.dataset_id, row.format = LEARNING, "vision", 0, "json"
        row.source = json.dumps(dict(learning.source))
        self._rows.create(row, learning.created_at, learning.expires_at)

    def find(self, account_id: str, learning_id: str) -> TemplateLearning | None:
        """Return a job; None if it does not exist or has expired."""
        try:
            row = ExportRow.get(account_id, learning_id, consistent_read=True)
        except ExportRow.DoesNotExist:
            return None
        is_there = row.kind == LEARNING and row.due_at > to_milliseconds(self._clock())
        return _load(row) if is_there else None

    def of_account(self, account_id: str) -> list[TemplateLearning]:
        """Return the jobs of an account, also expired ones that are not deleted yet."""
        mine = ExportRow.kind == LEARNING
        rows = ExportRow.query(account_id, consistent_read=True, filter_condition=mine)
        return [_load(row) for row in rows]

    def acquire(self, account_id: str, learning_id: str) -> TemplateLearning | None:
        """Acquire a job and set it RUNNING; None if it has ended or has another owner."""
        row = self._rows.acquire(account_id, learning_id)
        return None if row is None else _load(row)

    def renew(self, learning: TemplateLearning) -> None:
        """Extend the lease of a job.

        Raises:
            LeaseLost: another worker owns the job, or the job was deleted.
        """
        self._rows.renew(_row(learning), learning.fence)

    def release(self, learning: TemplateLearning, cause: str) -> None:
        """End the lease of a job, and store the error of this attempt."""
        actions: list[Action] = [ExportRow.lease_until.set(0), ExportRow.last_error.set(cause)]
        self._rows.change(_row(learning), learning.fence, actions)

    def finish(self, learning: TemplateLearning, result: Mapping[str, Any]) -> None:
        """Store the result of a job, and end it as SUCCEEDED.

        Raises:
            LeaseLost: another worker owns the job, or the job was deleted.
        """
        self._artifacts.put_json(_result_key(learning), dict(result))
        try:
            self._rows.end(_row(learning), learning.fence, SUCCEEDED)
        except LeaseLost:
            # No row leads to this object, so the sweep would never delete it.
            self._artifacts.delete(_result_key(learning))
            raise

    def fail(self, learning: TemplateLearning, message: str) -> None:
        """End a job as FAILED.

        Raises:
            LeaseLost: another worker owns the job, or the job was deleted.
        """
        said = [ExportRow.message.set(message)]
        self._rows.end(_row(learning), learning.fence, FAILED, said)

    def result(self, learning: TemplateLearning) -> dict[str, Any] | None:
        """Return the result of a job; None before it has SUCCEEDED."""
        if learning.status != SUCCEEDED:
            return None
        content = self._artifacts.get(_result_key(learning))
        return None if content is None else dict(json.loads(content))

    def put_input(self, learning: TemplateLearning, content: bytes) -> None:
        """Store the archive that the call sent."""
        self._artifacts.put(_input_key(learning), content)

    def read_input(self, learning: TemplateLearning, target: BinaryIO) -> bool:
        """Copy the stored archive into an open file; return False if it was deleted."""
        return self._artifacts.get_file(_input_key(learning), target)

    def delete(self, learning: TemplateLearning) -> None:
        """Delete a job with its input and results. A missing one is ignored."""
        # The row first: a worker that still runs can then publish nothing.
        _row(learning).delete()
        self._artifacts.delete_prefix(batch_prefix(learning.learning_id))


def _row(learning: TemplateLearning) -> ExportRow:
    return ExportRow(learning.account_id, learning.learning_id)


def _input_key(learning: TemplateLearning) -> str:
    return f"{batch_prefix(learning.learning_id)}raw"


def _result_key(learning: TemplateLearning) -> str:
    return f"{batch_prefix(learning.learning_id)}template-{learning.fence}"


def _load(row: ExportRow) -> TemplateLearning:
    return TemplateLearning(
        learning_id=row.export_id,
        account_id=row.account_id,
        source=json.loads(row.source),
        created_at=from_milliseconds(row.created_at),
        updated_at=from_milliseconds(row.updated_at),
        expires_at=from_milliseconds(row.due_at),
        status=row.status,
        message=row.message or "",
        fence=int(row.fence),
        attempts=int(row.attempts),
        last_error=row.last_error or "",
    )
