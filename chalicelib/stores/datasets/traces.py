"""Lists the data that was replaced by corrections and is not deleted yet.

There is one row per correction. It is written before the correction is committed, and names the
previous correction. The dataset's row names the last correction. So the rows of committed
corrections form a chain.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.corrections import Traces
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import ExampleChunkRow
from chalicelib.stores.examples.examples import traces_key


@dataclass(frozen=True)
class LeftTraces:
    """The record of the data that was replaced by one correction."""

    fence: int
    """Fence token of the lease under which the correction ran. It identifies the correction."""
    at: int
    """When the record was written, shortly before the commit, in milliseconds since 1970."""
    previous: int
    """Fence token of the previous correction; 0 if this is the first."""
    traces: Traces
    """The replaced data that must be deleted."""


@translate_errors
class TraceStore:
    """Reads and writes the records of replaced data."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, traces: Traces) -> None:
        """Record the data that a correction will replace. Called before the correction's commit."""
        members = {
            "at": to_milliseconds(self._clock()),
            "previous": dataset.last_correction,
            **asdict(traces),
        }
        row = ExampleChunkRow(traces_key(dataset.dataset_id), fence, size=0, fence=fence)
        row.body = zlib.compress(json.dumps(members, separators=(",", ":")).encode())
        row.save()

    def all(self, dataset_id: int) -> list[LeftTraces]:
        """Return all records of a dataset, oldest first.

        The result includes the records of corrections that were not committed.
        """
        rows = ExampleChunkRow.query(traces_key(dataset_id), consistent_read=True)
        return [_load(row) for row in rows]

    def delete(self, dataset_id: int, fence: int) -> None:
        """Delete the record of the correction with this fence token."""
        ExampleChunkRow(traces_key(dataset_id), fence).delete()


def committed(traces: list[LeftTraces], last: int) -> list[LeftTraces]:
    """Return the traces that belong to committed corrections, oldest first.

    `last` is the fence token of the last correction, from the dataset's row.
    """
    by_fence = {one.fence: one for one in traces}
    chain: list[LeftTraces] = []
    while last in by_fence:
        chain.append(by_fence[last])
        last = by_fence[last].previous
    return chain[::-1]


def _load(row: ExampleChunkRow) -> LeftTraces:
    members = json.loads(zlib.decompress(row.body))
    at, previous = members.pop("at"), members.pop("previous")
    members["chunks"] = [(key, number) for key, number in members["chunks"]]
    return LeftTraces(int(row.number), at, previous, Traces(**members))
