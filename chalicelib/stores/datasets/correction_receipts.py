"""Receipts of corrections, which are stored as long as the dataset.

A receipt is written before its correction is committed, and names the previous correction. The
dataset's row names the last one. So the committed corrections form a chain, and receipts outside of
it belong to corrections that never took effect.
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

# Maximum number of receipts that `marked` reads.
_LOOKED_THROUGH = 1000
_COUNTS = ("moved", "changed", "removed", "added", "duplicates", "skipped")


@translate_errors
class CorrectionReceipts:
    """Reads and writes receipts of corrections."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, done: CorrectionResult) -> datetime:
        """Store the receipt of a correction before it is committed; return its time."""
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
        """Return up to `limit` corrections of a dataset, newest first."""
        return list(islice(self._committed(dataset), limit))

    def marked(self, dataset: Dataset, wanted: str) -> CorrectionResult | None:
        """Return the correction made by the call with the id `wanted`; None if it is not found.

        The newest thousand corrections are searched.
        """
        found = islice(self._committed(dataset), _LOOKED_THROUGH)
        return next((done for done in found if done.mark == wanted), None)

    def _committed(self, dataset: Dataset) -> Iterator[CorrectionResult]:
        """Yield the committed corrections of a dataset, newest first."""
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
