"""Reads and writes receipts of uploads and corrections. Their sort keys begin with the time."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import Any

from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.common.repeats import mark
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_write
from chalicelib.stores.aws.rows import load
from chalicelib.stores.aws.tables import ExampleChunkRow, ReceiptRow
from chalicelib.stores.examples.examples import corrections_key


def receipt_key(receipt: Receipt) -> str:
    """Return the sort key of a receipt. The dataset's row stores this key as the upload id."""
    return f"{to_milliseconds(receipt.created_at):013d}#{receipt.receipt_id}"


def parse_receipt_key(key: str, dataset_id: int) -> Receipt:
    """Return a receipt that has only an id and a time, parsed from a sort key."""
    milliseconds, _, receipt_id = key.partition("#")
    return Receipt(receipt_id, dataset_id, from_milliseconds(int(milliseconds)))


@translate_errors
class ReceiptStore:
    """Reads and writes the rows of receipts."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def put(self, receipt: Receipt, fence: int = 0) -> None:
        """Write a receipt, unless a worker with a higher fence token has written it."""
        row = ReceiptRow(
            receipt.dataset_id,
            receipt_key(receipt),
            status=receipt.status,
            message=receipt.message,
            seen=receipt.seen,
            kept=receipt.kept,
            duplicates=receipt.duplicates,
            rejected=receipt.rejected,
            rejections=[asdict(rejection) for rejection in receipt.rejections],
            warnings=[asdict(warning) for warning in receipt.warnings],
            fence=fence,
        )
        # Of two owners of one upload, the later one knows the outcome.
        newest = ReceiptRow.fence.does_not_exist() | (ReceiptRow.fence <= fence)
        try_write(lambda: row.save(condition=newest))

    def newest(self, dataset_id: int, limit: int) -> list[Receipt]:
        """Return the newest receipts of a dataset, at most `limit`."""
        rows = ReceiptRow.query(
            dataset_id, scan_index_forward=False, limit=limit, consistent_read=True
        )
        return [_load(row) for row in rows]

    def delete_all(self, dataset_id: int) -> None:
        """Delete all receipts of a dataset."""
        rows = list(ReceiptRow.query(dataset_id, consistent_read=True))
        with ReceiptRow.batch_write() as batch:
            for row in rows:
                batch.delete(row)


def _load(row: ReceiptRow) -> Receipt:
    empty = parse_receipt_key(row.receipt_key, int(row.dataset_id))
    return load(
        Receipt,
        row,
        receipt_id=empty.receipt_id,
        created_at=empty.created_at,
        rejections=tuple(RejectedItem(**item) for item in row.rejections or ()),
        warnings=tuple(_load_warning(item) for item in row.warnings or ()),
    )


def _load_warning(item: Mapping[str, Any]) -> UploadWarning:
    return UploadWarning(item["code"], item["message"], int(item["count"]), tuple(item["places"]))


# Maximum number of receipts that `marked` reads.
_LOOKED_THROUGH = 1000
_COUNTS = ("moved", "changed", "removed", "added", "duplicates", "skipped")


@translate_errors
class CorrectionReceipts:
    """Reads and writes receipts of corrections, which are stored as long as the dataset.

    A receipt is written before its correction is committed, and names the previous correction. The
    dataset's row names the last correction. So the committed corrections form a chain. A receipt
    outside of the chain belongs to a correction that never took effect.
    """

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def put(self, dataset: Dataset, fence: int, result: CorrectionResult) -> datetime:
        """Store the receipt of a correction before it is committed; return its time."""
        now = self._clock()
        members = {
            "at": to_milliseconds(now),
            "previous": dataset.last_correction,
            "mark": mark(),
            **{name: getattr(result, name) for name in _COUNTS},
        }
        row = ExampleChunkRow(corrections_key(dataset.dataset_id), fence, size=0, fence=fence)
        row.body = zlib.compress(json.dumps(members, separators=(",", ":")).encode())
        row.save()
        return from_milliseconds(members["at"])

    def newest(self, dataset: Dataset, limit: int) -> list[CorrectionResult]:
        """Return up to `limit` corrections of a dataset, newest first."""
        return list(islice(self._committed(dataset), limit))

    def find_by_call(self, dataset: Dataset, call_digest: str) -> CorrectionResult | None:
        """Return the result of the correction made by a call; None if it is not found.

        The newest thousand corrections are searched.
        """
        found = islice(self._committed(dataset), _LOOKED_THROUGH)
        return next((done for done in found if done.mark == call_digest), None)

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
