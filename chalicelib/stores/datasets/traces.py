"""What mendings left to be cleared away, a row for each, in the order of their fences.

A row is written before its mending is committed and names the mending before it. So those that were
committed are a chain that begins at the dataset's row, and the others came to nothing.
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
from chalicelib.stores.examples.examples import mended_key


@dataclass(frozen=True)
class LeftTraces:
    """What one mending left."""

    fence: int
    """Of its owner."""
    at: int
    """When it was written, shortly before its commit, in milliseconds since 1970."""
    previous: int
    """Fence of the mending before it, 0 for none."""
    traces: Traces
    """What is to be cleared away."""


@translate_errors
class TraceStore:
    """Reads and writes what mendings left."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, traces: Traces) -> None:
        """Note what a mending will have left once it is committed."""
        members = {
            "at": to_milliseconds(self._clock()),
            "previous": dataset.last_correction,
            **asdict(traces),
        }
        row = ExampleChunkRow(mended_key(dataset.dataset_id), fence, size=0, fence=fence)
        row.body = zlib.compress(json.dumps(members, separators=(",", ":")).encode())
        row.save()

    def all(self, dataset_id: int) -> list[LeftTraces]:
        """Return what is noted, whether it was committed or not, the oldest first."""
        rows = ExampleChunkRow.query(mended_key(dataset_id), consistent_read=True)
        return [_load(row) for row in rows]

    def delete(self, dataset_id: int, fence: int) -> None:
        """Forget what was cleared away, or came to nothing."""
        ExampleChunkRow(mended_key(dataset_id), fence).delete()


def committed(found: list[LeftTraces], last: int) -> list[LeftTraces]:
    """Return what committed mendings left, the oldest first.

    Args:
        found: all that is noted of a dataset.
        last: fence of the last mending that its row knows.
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
