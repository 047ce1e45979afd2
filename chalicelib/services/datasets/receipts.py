"""Lists the receipts of uploads and corrections. See contract section 5, receipts."""

from __future__ import annotations

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.receipt import Receipt
from chalicelib.stores.datasets.receipts import CorrectionReceipts, ReceiptStore


class ReceiptService:
    """Lists the upload receipts and the corrections of a dataset."""

    def __init__(self, receipts: ReceiptStore, corrections: CorrectionReceipts) -> None:
        self._receipts = receipts
        self._corrections = corrections

    def list(self, view: DatasetView, offset: int, count: int) -> ListPage[Receipt]:
        """List the upload receipts of a dataset, newest first."""
        found = self._receipts.newest(view.dataset.dataset_id, offset + count + 1)
        return ListPage(tuple(found[offset : offset + count]), offset, len(found) > offset + count)

    def corrections(self, view: DatasetView, offset: int, count: int) -> ListPage[CorrectionResult]:
        """List the corrections of a dataset's examples, newest first."""
        found = self._corrections.newest(view.dataset, offset + count + 1)
        return ListPage(tuple(found[offset : offset + count]), offset, len(found) > offset + count)
