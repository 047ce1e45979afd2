"""Presigned forms for files too large for the gateway. Contract section 5, POST /v2/uploads."""

from __future__ import annotations

import msgspec

from chalicelib.domain.accounts.rates import UPLOADS
from chalicelib.domain.common.clock import date_text
from chalicelib.web.operations.fields import Name
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records


class IssueForm(msgspec.Struct):
    """Fields of a request for a presigned form."""

    name: Name | None = None


def issue_upload(call: Call) -> dataset_records.UploadRecord:
    """Issue a presigned form. Later calls refer to its file by `path` or `sampleLocation`."""
    form: IssueForm = call.form
    issued = call.container.upload_forms.issue(call.account, form.name)
    return dataset_records.UploadRecord(
        url=issued.url,
        fields=issued.fields,
        path=issued.path,
        expires_at=date_text(issued.expires_at),
        max_bytes=issued.max_bytes,
    )


OPERATIONS = (
    Operation(
        name="issue_upload",
        method="POST",
        path="/v2/uploads",
        view=issue_upload,
        cost=UPLOADS,
        summary="Get a form to upload a file that is too large for a call, up to 2 GB.",
        form=IssueForm,
        takes_key=True,
        takes_data=True,
        answer=dataset_records.UploadRecord,
    ),
)
