"""Signs requests to the emulated AWS as its clients do; tests then change what was signed."""

from __future__ import annotations

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.local_stack import LocalStack


def signed(
    stack: LocalStack,
    service: str,
    method: str = "POST",
    path: str = "/",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    is_chunked: bool = False,
) -> dict[str, str]:
    """Return the headers of a request that is signed with the stack's keys.

    A chunked request is one whose checksum follows the body, which is not signed.
    """
    found = stack.environment
    keys = Credentials(found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"])
    url = found["AWS_ENDPOINT_URL"]
    given = {"Host": url.removeprefix("http://"), **(headers or {})}
    request = AWSRequest(method, f"{url}{path}", given, data=body)
    if is_chunked:
        request.context["checksum"] = {"request_algorithm": {"in": "trailer"}}
    kind = S3SigV4Auth if service == "s3" else SigV4Auth
    kind(keys, service, found["AWS_REGION"]).add_auth(request)
    return dict(request.headers.items())
