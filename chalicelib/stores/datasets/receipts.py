"""Receipts of uploads. Their sort key begins with the time, so a query finds the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_write
from chalicelib.stores.aws.rows import load
from chalicelib.stores.aws.tables import ReceiptRow


def receipt_key(receipt: Receipt) -> str:
    """Return the sort key of a receipt, which the dataset's row stores as the upload id."""
    return f"{to_milliseconds(receipt.created_at):013d}#{receipt.receipt_id}"


def parse_receipt_key(key: str, dataset_id: int) -> Receipt:
    """Return a receipt that has only the id and the time in a sort key."""
    milliseconds, _, receipt_id = key.partition("#")
    return Receipt(receipt_id, dataset_id, from_milliseconds(int(milliseconds)))


@translate_errors
class ReceiptStore:
    """Reads and writes the rows of receipts."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def put(self, receipt: Receipt, fence: int = 0) -> None:
        """Write a receipt, unless a worker with a later fence has written it."""
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
