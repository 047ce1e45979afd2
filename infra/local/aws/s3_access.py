"""Checks what moto leaves unchecked: S3's presigned URLs and presigned POST forms.

Moto takes expired and forged ones. A request with neither a signature nor a policy is refused, as
on a private bucket; header signatures come from the stack's own processes and pass.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from infra.local.aws.post_policy import Form, PolicyBroken, check_form

MAX_EXPIRES_SECONDS = 7 * 24 * 3600
"""Longest life of a presigned URL."""
TIMESTAMP = "%Y%m%dT%H%M%SZ"
"""Form of SigV4 times."""


class Refused(Exception):
    """S3 does not let the request in."""

    def __init__(self, message: str, code: str = "AccessDenied", status: str = "403 Forbidden"):
        super().__init__(message)
        self.code = code
        self.status = status

    @property
    def body(self) -> bytes:
        """The answer that S3 would give."""
        text = f"<Code>{self.code}</Code><Message>{escape(str(self))}</Message>"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{text}</Error>'.encode()


class S3Access:
    """Decides which requests to S3 pass."""

    def __init__(self, secret_key: str) -> None:
        self._secret_key = secret_key

    def check(self, environ: dict[str, Any]) -> Form | None:
        """Let a request pass or refuse it; a form that passes is returned, read.

        Raises:
            Refused: the signature, its time or the form's policy does not allow the request.
        """
        query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        if environ.get("HTTP_AUTHORIZATION"):
            return None
        if "X-Amz-Signature" in query:
            self._check_query(environ, {name: values[0] for name, values in query.items()})
        elif environ.get("CONTENT_TYPE", "").startswith("multipart/form-data"):
            try:
                return check_form(environ, self._secret_key)
            except PolicyBroken as broken:
                raise Refused(str(broken), broken.code, broken.status) from broken
        else:
            raise Refused("Access Denied")
        return None

    def _check_query(self, environ: dict[str, Any], query: dict[str, str]) -> None:
        """Check a presigned URL: its time and its signature."""
        try:
            signed_at = datetime.strptime(query["X-Amz-Date"], TIMESTAMP).replace(tzinfo=UTC)
            seconds = int(query["X-Amz-Expires"])
            key_id, _, region, service, _ = query["X-Amz-Credential"].split("/")
            names = query["X-Amz-SignedHeaders"].split(";")
        except (KeyError, ValueError) as error:
            code = "AuthorizationQueryParametersError"
            raise Refused("A signing parameter is wrong.", code, "400 Bad Request") from error
        age = datetime.now(UTC) - signed_at
        life = timedelta(seconds=min(seconds, MAX_EXPIRES_SECONDS))
        if not timedelta(minutes=-15) <= age <= life:
            raise Refused("Request has expired")
        signer = S3SigV4QueryAuth(Credentials(key_id, self._secret_key), service, region)
        expected = _signature(signer, environ, names, query["X-Amz-Date"])
        if not hmac.compare_digest(expected, query["X-Amz-Signature"]):
            raise Refused("The request signature does not match.", "SignatureDoesNotMatch")


def _signature(
    signer: S3SigV4QueryAuth, environ: dict[str, Any], names: list[str], timestamp: str
) -> str:
    """Compute the signature that a presigned request should have."""
    path = environ["RAW_URI"].partition("?")[0]
    kept = "&".join(
        pair for pair in environ["QUERY_STRING"].split("&") if "X-Amz-Signature=" not in pair
    )
    headers = {name: _header(environ, name) for name in names}
    url = f"http://{environ['HTTP_HOST']}{path}?{kept}"
    request = AWSRequest(environ["REQUEST_METHOD"], url, headers)
    request.context["timestamp"] = timestamp
    text = signer.string_to_sign(request, signer.canonical_request(request))
    return str(signer.signature(text, request))


def _header(environ: dict[str, Any], name: str) -> str:
    key = name.upper().replace("-", "_")
    return str(environ.get(key if key.startswith("CONTENT_") else f"HTTP_{key}", ""))
