"""Receipts: the result of each upload, with its rejected rows.

See contract, section 5, receipts.
"""

from __future__ import annotations

from chalicelib.domain.common.limits import RECEIPTS_PAGE
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.operations.locate import dataset_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe


@Operation(
    "GET",
    "/v2/:family/datasets/{dataset_id}/receipts",
    locate=dataset_in_path,
    page_size=RECEIPTS_PAGE,
)
def list_receipts(call: Call) -> ListAnswer[dataset_records.ReceiptRecord]:
    """List the results of the uploads of a dataset: rows kept, duplicate and rejected."""
    asked = call.window
    page = call.container.receipts.list(call.target, asked.offset, asked.count)
    return list_answer(page, describe.receipt, asked)
