"""Returns the status of a deletion. See spec (Deletion record)."""

from __future__ import annotations

from chalicelib.errors import DeletionNotFound
from chalicelib.web.operations import locate
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, service_records


@Operation("GET", "/v2/:family/deletion/{deletion_id}", statuses=(404,))
def get_deletion(call: Call) -> service_records.DeletionRecord:
    """Return the progress of the deletion of a dataset or model."""
    deletion_id = locate.text_id(call.request.parameters["deletion_id"], DeletionNotFound)
    deletions = call.container.deletions
    return describe.deletion(deletions.get(call.account.account_id, deletion_id))
