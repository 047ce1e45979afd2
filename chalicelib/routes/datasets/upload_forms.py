"""Presigned forms for files too large for the gateway.

See contract, section 5, POST /v2/uploads.
"""

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


@Operation("POST", "/v2/uploads", cost=UPLOADS, form=IssueForm, takes_key=True, takes_data=True)
def issue_upload(call: Call) -> dataset_records.UploadRecord:
    """Get a form to upload a file that is too large for a call, up to 2 GB."""
    form: IssueForm = call.form
    issued = call.container.upload_forms.issue(call.account, form.name)
    return dataset_records.UploadRecord(
        url=issued.url,
        fields=issued.fields,
        path=issued.path,
        expires_at=date_text(issued.expires_at),
        max_bytes=issued.max_bytes,
    )
