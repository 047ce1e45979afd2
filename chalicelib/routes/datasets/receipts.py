"""Receipts: the result of each upload, with its rejected rows. Contract section 5, receipts."""

from __future__ import annotations

from chalicelib.domain.common.limits import RECEIPTS_PAGE
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.operations.locate import dataset_in_path
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import dataset_records, describe


def list_receipts(call: Call) -> ListAnswer:
    """List the upload receipts of a dataset, newest first."""
    asked = call.window
    page = call.container.receipts.list(call.located, asked.offset, asked.count)
    return list_answer(page, describe.receipt, asked)


OPERATIONS = (
    Operation(
        name="list_receipts",
        method="GET",
        path="/v2/:family/datasets/{dataset_id}/receipts",
        families=BOTH,
        view=list_receipts,
        locate=dataset_in_path,
        summary="List the results of the uploads of a dataset: rows kept, duplicate and rejected.",
        page_size=RECEIPTS_PAGE,
        is_list=True,
        answer=dataset_records.ReceiptRecord,
    ),
)
