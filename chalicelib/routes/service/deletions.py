"""Returns the status of a deletion. Spec: Deletion record."""

from __future__ import annotations

from chalicelib.errors import DeletionNotFound
from chalicelib.web.operations import locate
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import describe, service_records


def get_deletion(call: Call) -> service_records.DeletionRecord:
    """Return the status and progress of a deletion. Spec: Deletion status."""
    deletion_id = locate.text_id(call.request.parameters["deletion_id"], DeletionNotFound)
    deletions = call.container.deletions
    return describe.deletion(deletions.get(call.account.account_id, deletion_id))


OPERATIONS = (
    Operation(
        name="get_deletion",
        method="GET",
        path="/v2/:family/deletion/{deletion_id}",
        families=BOTH,
        view=get_deletion,
        summary="Return the progress of the deletion of a dataset or model.",
        answer=service_records.DeletionRecord,
        statuses=(404,),
    ),
)
