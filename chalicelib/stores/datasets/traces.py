"""Records the data that corrections replaced, until it is deleted: one row per correction.

A row is written before its correction is committed, and names the previous correction. So the rows
of committed corrections form a chain that starts at the dataset's row.
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
    """Data that one correction replaced."""

    fence: int
    """Fence of the correction."""
    at: int
    """Time of writing, shortly before the commit, in milliseconds since 1970."""
    previous: int
    """Fence of the previous correction; 0 for none."""
    traces: Traces
    """The data to delete."""


@translate_errors
class TraceStore:
    """Reads and writes the data that corrections replaced."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, traces: Traces) -> None:
        """Save a description of the data that a correction replaces, before the commit."""
        members = {
            "at": to_milliseconds(self._clock()),
            "previous": dataset.last_correction,
            **asdict(traces),
        }
        row = ExampleChunkRow(traces_key(dataset.dataset_id), fence, size=0, fence=fence)
        row.body = zlib.compress(json.dumps(members, separators=(",", ":")).encode())
        row.save()

    def all(self, dataset_id: int) -> list[LeftTraces]:
        """Return all rows, committed or not, oldest first."""
        rows = ExampleChunkRow.query(traces_key(dataset_id), consistent_read=True)
        return [_load(row) for row in rows]

    def delete(self, dataset_id: int, fence: int) -> None:
        """Delete the row of deleted data, or of a correction that was never committed."""
        ExampleChunkRow(traces_key(dataset_id), fence).delete()


def committed(found: list[LeftTraces], last: int) -> list[LeftTraces]:
    """Return the rows of committed corrections, oldest first.

    Args:
        found: all rows of a dataset.
        last: fence of the last correction in the dataset's row.
    """
    by_fence = {one.fence: one for one in found}
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
