"""Lists the receipts of a dataset, of uploads and of mendings. Contract section 5, receipts."""

from __future__ import annotations

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.receipt import Receipt
from chalicelib.stores.datasets.mend_receipts import MendReceipts
from chalicelib.stores.datasets.receipts import ReceiptStore


class ReceiptService:
    """What happened to the rows of uploads, and what mendings did."""

    def __init__(self, receipts: ReceiptStore, mendings: MendReceipts) -> None:
        self._receipts = receipts
        self._mendings = mendings

    def list(self, view: DatasetView, offset: int, count: int) -> ListPage[Receipt]:
        """List a dataset's receipts, the newest first."""
        found = self._receipts.newest(view.dataset.dataset_id, offset + count + 1)
        return ListPage(tuple(found[offset : offset + count]), offset, len(found) > offset + count)

    def mendings(self, view: DatasetView, offset: int, count: int) -> ListPage[CorrectionResult]:
        """List what changes of a dataset's examples did, the newest first."""
        found = self._mendings.newest(view.dataset, offset + count + 1)
        return ListPage(tuple(found[offset : offset + count]), offset, len(found) > offset + count)
