"""Receipts of mendings: what each of them did, kept as long as the dataset.

A row is written before its mending is committed and names the mending before it. So those that were
committed are a chain that begins at the dataset's row, and the others came to nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.common.repeats import mark
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import ExampleChunkRow
from chalicelib.stores.examples.examples import corrections_key

_LOOKED_THROUGH = 1000
_COUNTS = ("moved", "changed", "removed", "added", "duplicates", "skipped")


@translate_errors
class MendReceipts:
    """Reads and writes receipts of mendings."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, done: CorrectionResult) -> datetime:
        """Note what a mending will have done once it is committed; return when that was."""
        now = self._clock()
        members = {
            "at": to_milliseconds(now),
            "previous": dataset.last_correction,
            "mark": mark(),
            **{name: getattr(done, name) for name in _COUNTS},
        }
        row = ExampleChunkRow(corrections_key(dataset.dataset_id), fence, size=0, fence=fence)
        row.body = zlib.compress(json.dumps(members, separators=(",", ":")).encode())
        row.save()
        return from_milliseconds(members["at"])

    def newest(self, dataset: Dataset, limit: int) -> list[CorrectionResult]:
        """Return what the newest mendings of a dataset did, the last one first."""
        return list(islice(self._committed(dataset), limit))

    def marked(self, dataset: Dataset, wanted: str) -> CorrectionResult | None:
        """Find what a mending of the newest thousand did, by the mark of its call."""
        found = islice(self._committed(dataset), _LOOKED_THROUGH)
        return next((done for done in found if done.mark == wanted), None)

    def _committed(self, dataset: Dataset) -> Iterator[CorrectionResult]:
        """Follow the chain."""
        expected = dataset.last_correction
        rows = ExampleChunkRow.query(
            corrections_key(dataset.dataset_id), scan_index_forward=False, consistent_read=True
        )
        for row in rows:
            if int(row.number) == expected:
                members = json.loads(zlib.decompress(row.body))
                expected, at = members.pop("previous"), members.pop("at")
                yield CorrectionResult(
                    **members, correction_id=int(row.number), created_at=from_milliseconds(at)
                )
