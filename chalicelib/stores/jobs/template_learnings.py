"""Jobs that learn form templates. Their rows are in the table of exports.

The input and the result of a job are objects in the bucket, as for a batch. The name of a result
ends with the fence token of the worker that wrote it. So a stalled worker cannot overwrite the
result of another worker.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from chalicelib.domain.common.clock import from_milliseconds
from chalicelib.domain.jobs.export import SUCCEEDED
from chalicelib.domain.jobs.template_learning import TemplateLearning
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.objects import batch_prefix
from chalicelib.stores.aws.rows import load
from chalicelib.stores.aws.tables import ExportRow
from chalicelib.stores.jobs.exports import LEARNING
from chalicelib.stores.jobs.row_leases import FileJobStore


@translate_errors
class LearningStore(FileJobStore[TemplateLearning]):
    """Reads jobs, and changes their state by single conditional writes."""

    _kinds = (LEARNING,)

    def create(self, learning: TemplateLearning) -> None:
        """Store a new job as QUEUED."""
        row = self._row(learning)
        row.kind, row.family, row.dataset_id, row.format = LEARNING, "vision", 0, "json"
        row.source = json.dumps(dict(learning.source))
        self._create(row, learning.created_at, learning.expires_at)

    def of_account(self, account_id: str) -> list[TemplateLearning]:
        """Return the jobs of an account, including expired jobs that are not deleted yet."""
        mine = ExportRow.kind == LEARNING
        rows = ExportRow.query(account_id, consistent_read=True, filter_condition=mine)
        return [self._load(row) for row in rows]

    def finish(self, learning: TemplateLearning, result: Mapping[str, Any]) -> None:
        """Store the result of a job, and end it as SUCCEEDED.

        Raises:
            LeaseLost: another worker owns the job, or the job was deleted.
        """
        self._artifacts.put_json(_result_key(learning), dict(result))
        try:
            self._end(learning, SUCCEEDED)
        except LeaseLost:
            # No row leads to this object, so the sweep would never delete it.
            self._artifacts.delete(_result_key(learning))
            raise

    def result(self, learning: TemplateLearning) -> dict[str, Any] | None:
        """Return the result of a job; None if the job has not SUCCEEDED."""
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
        """Delete a job with its input and results. A missing job is ignored."""
        # The row first: a worker that still runs can then publish nothing.
        self._row(learning).delete()
        self._artifacts.delete_prefix(batch_prefix(learning.learning_id))

    def _row(self, job: TemplateLearning) -> ExportRow:
        return ExportRow(job.account_id, job.learning_id)

    def _load(self, row: ExportRow) -> TemplateLearning:
        return load(
            TemplateLearning,
            row,
            learning_id=row.export_id,
            source=json.loads(row.source),
            expires_at=from_milliseconds(row.due_at),
        )


def _input_key(learning: TemplateLearning) -> str:
    return f"{batch_prefix(learning.learning_id)}raw"


def _result_key(learning: TemplateLearning) -> str:
    return f"{batch_prefix(learning.learning_id)}template-{learning.fence}"
