"""Checks the first fields of a presigned form, before the local server writes its file to disk.

The server passes only complete forms to the application. Without this check, anyone could fill the
disk with bodies of 2 GB that the application refuses only at their end.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from waitress.utilities import Error

from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_BY_PATH
from infra.local.aws.s3_access import FIELDS_BYTES, Refused, begun_fields, check_policy
from infra.local.aws.signatures import KeyPair

_MAX_FORM_BYTES = MAX_ARCHIVE_BYTES_BY_PATH + FIELDS_BYTES


class FormRefused(Error):
    """Raised for a form without a valid signature, or with fields that were not signed."""

    code = 403
    reason = "Forbidden"


class LengthRequired(Error):
    """The request with the form has no Content-Length."""

    code = 411
    reason = "Length Required"


class FormChecks:
    """Checks forms that are sent to one bucket."""

    def __init__(self, path: str, bucket: str, keys: KeyPair) -> None:
        """Prepare the checks of the forms for one bucket.

        Args:
            path: path of the bucket at the front.
            bucket: name of the bucket.
            keys: key pair that must have signed the policy of a form.
        """
        self._path = path
        self._bucket = bucket
        self._keys = keys

    def is_form(self, request: Any) -> bool:
        """Return whether a request, whose headers have arrived, sends a form to the bucket."""
        return bool(request.command == "POST") and str(request.path).removesuffix("/") == self._path

    def adjust(self, adjustments: Any) -> Any:
        """Return waitress settings that allow the size of forms."""
        adjusted = copy(adjustments)
        adjusted.max_request_body_size = _MAX_FORM_BYTES + 1
        return adjusted

    def check(self, request: Any, head: bytes) -> Error | None:
        """Return the error for a refused form; None if its signed policy allows the form.

        Args:
            request: the request, whose headers have arrived.
            head: the first FIELDS_BYTES of the request's body; the whole body if it is shorter.
        """
        try:
            fields = begun_fields(request.headers.get("CONTENT_TYPE", ""), head)
            # The file's own size is known at the end; only a form that is certainly too large
            # is refused here.
            size = max(1, request.content_length - FIELDS_BYTES)
            check_policy(fields | {"bucket": self._bucket}, size, self._keys)
        except Refused as refused:
            return FormRefused(str(refused))
        return None
