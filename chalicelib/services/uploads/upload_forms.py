"""Issues presigned forms, with which callers send large files directly to the bucket.

See contract section 5, POST /v2/uploads. The files are checked later, when a call uses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_BY_PATH, UPLOAD_FORM_SECONDS
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.fields import checked_name
from chalicelib.domain.datasets.upload import UploadedFile, owner_and_id
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.jobs.capacity import CapacityStore


@dataclass(frozen=True)
class IssuedForm:
    """A presigned form."""

    url: str
    """URL to which the form is sent as multipart/form-data."""
    fields: dict[str, str]
    """Fields of the form. The part `file` must come last."""
    path: str
    """Value with which later calls refer to the file."""
    expires_at: datetime
    """When the form and the file expire."""
    max_bytes: int
    """Maximum size of the file in bytes."""


class UploadFormService:
    """Issues presigned forms, and records which of their files have arrived."""

    def __init__(self, files: UploadedFileStore, capacity: CapacityStore, clock: Clock) -> None:
        self._files = files
        self._capacity = capacity
        self._clock = clock

    def issue(self, account: Account, name: str | None) -> IssuedForm:
        """Issue a form for one file of an account.

        Raises:
            InvalidParameter: the name is not allowed.
            TooManyOpen: the account has too many unused forms.
        """
        expires_at = self._clock() + timedelta(seconds=UPLOAD_FORM_SECONDS)
        uploaded = UploadedFile(
            account_id=account.account_id,
            upload_id=object_id(),
            name=checked_name(name) if name else "",
            expires_at=to_milliseconds(expires_at),
        )
        # Counted before the form exists, so that parallel calls cannot exceed the limit.
        self._capacity.add_form(account.account_id, uploaded.upload_id, uploaded.expires_at)
        url, fields = self._files.create(uploaded)
        return IssuedForm(
            url, fields, uploaded.path, from_milliseconds(uploaded.expires_at),
            MAX_ARCHIVE_BYTES_BY_PATH,
        )  # fmt: skip

    def receive(self, key: str, etag: str) -> bool:
        """Record that a file has arrived in the bucket; return False if the file has no form."""
        owner = owner_and_id(key)
        return owner is not None and self._files.receive(*owner, etag)
