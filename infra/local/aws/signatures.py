"""Checks the AWS signatures (version 4) of requests that are signed in a header.

Only the stack's own key pair is accepted. Without this check, every web page and every user of the
machine could read and write all data through the port of the emulated AWS.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.credentials import Credentials

# Difference between the clocks of client and service that AWS accepts, in seconds.
SKEW_SECONDS = 900
WRONG_KEY = "The access key is not the local stack's. `make aws-env` prints the right one."
_FORM = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=([^/,\s]+)/([0-9]{8})/([^/,\s]+)/([^/,\s]+)/aws4_request *, *"
    r"SignedHeaders=([^,\s]+) *, *Signature=([0-9a-f]{64})"
)
_TIME_FORM = "%Y%m%dT%H%M%SZ"
_TIMESTAMP = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# The headers whose names have no prefix in a WSGI environment.
_UNPREFIXED = ("CONTENT_TYPE", "CONTENT_LENGTH")
# Larger bodies are on disk. To hash them again would double the time of an upload.
_HASHED_BYTES = 16 * 1024 * 1024


class WrongSignature(Exception):
    """A request is not signed with the stack's key pair; the error text says why."""

    def __init__(self, message: str, code: str = "SignatureDoesNotMatch") -> None:
        super().__init__(message)
        self.code = code
        """AWS's error code."""


@dataclass(frozen=True)
class KeyPair:
    """An access key of AWS."""

    key_id: str
    secret: str

    def is_id(self, text: str) -> bool:
        """Return whether a text is the key's id."""
        return hmac.compare_digest(text.encode("utf-8"), self.key_id.encode("utf-8"))


class Signatures:
    """Checks requests against one key pair; thread-safe."""

    def __init__(self, keys: KeyPair) -> None:
        self._keys = keys
        # A signing key is derived once for each day, region and service, and used for thousands of
        # calls.
        self._signing_key = lru_cache(64)(self._derive)

    def check(self, environ: dict[str, Any]) -> str:
        """Check the Authorization header of a request and return the service that it names.

        Args:
            environ: WSGI environment with an unread `Body`, which is read here.

        Raises:
            WrongSignature: the request is not signed with the key pair, was not signed within 15
                minutes of now, or has a body with another digest.
        """
        found = _FORM.fullmatch(environ["HTTP_AUTHORIZATION"].strip())
        if found is None:
            raise WrongSignature("The authorization header is malformed.", "AccessDenied")
        key_id, date, region, service, names, signature = found.groups()
        if not self._keys.is_id(key_id):
            raise WrongSignature(WRONG_KEY, "InvalidAccessKeyId")
        timestamp = environ.get("HTTP_X_AMZ_DATE", "")
        _check_time(timestamp, date)
        text = "\n".join(
            (
                "AWS4-HMAC-SHA256",
                timestamp,
                f"{date}/{region}/{service}/aws4_request",
                _sha256(_canonical_request(environ, service, names).encode("utf-8")),
            )
        )
        key = self._signing_key(date, region, service)
        if not hmac.compare_digest(_hmac(key, text).hex(), signature):
            raise WrongSignature("The request signature does not match.")
        _check_body(environ)
        return service.lower()

    def _derive(self, date: str, region: str, service: str) -> bytes:
        key = f"AWS4{self._keys.secret}".encode()
        for part in (date, region, service, "aws4_request"):
            key = _hmac(key, part)
        return key


def header_value(environ: dict[str, Any], name: str) -> str:
    """Return a header by its name in lower case; empty if it is missing."""
    key = name.upper().replace("-", "_")
    return str(environ.get(key if key in _UNPREFIXED else f"HTTP_{key}", ""))


def _check_time(timestamp: str, date: str) -> None:
    """Check that a request was signed within 15 minutes of now."""
    if not _TIMESTAMP.fullmatch(timestamp) or not timestamp.startswith(date):
        raise WrongSignature("X-Amz-Date is missing or wrong.", "AccessDenied")
    first, last = _window(int(time.time()))
    # Timestamps of this format sort by time.
    if not first <= timestamp <= last:
        message = "The difference between the request time and the current time is too large."
        raise WrongSignature(message, "RequestTimeTooSkewed")


@lru_cache(1)
def _window(now: int) -> tuple[str, str]:
    """Return the first and last accepted timestamp; `now` is in seconds since 1970."""
    ends = (time.gmtime(now - SKEW_SECONDS), time.gmtime(now + SKEW_SECONDS))
    return time.strftime(_TIME_FORM, ends[0]), time.strftime(_TIME_FORM, ends[1])


def _canonical_request(environ: dict[str, Any], service: str, names: str) -> str:
    """Return the text that a client signs; `names` are the signed headers, joined by `;`."""
    signed = names.split(";")
    if "host" not in signed:
        raise WrongSignature("The Host header must be signed.", "AccessDenied")
    path, _, query = environ["RAW_URI"].partition("?")
    # S3 signs the path as sent. Other services normalise it, but nearly all of their paths are "/".
    if path != "/" and service != "s3":
        path = _botocore(service)._normalize_url_path(path)
    if query:
        query = _botocore(service)._canonical_query_string_url(urlsplit(f"/?{query}"))
    headers = _headers(environ, signed)
    return "\n".join((environ["REQUEST_METHOD"], path, query, headers, names, _payload(environ)))


def _headers(environ: dict[str, Any], names: Iterable[str]) -> str:
    return "".join(f"{name}:{' '.join(header_value(environ, name).split())}\n" for name in names)


@lru_cache(64)
def _botocore(service: str) -> Any:
    """Return botocore's signer, whose rules for paths and queries are used here."""
    return SigV4Auth(Credentials("", ""), service, "")


def _payload(environ: dict[str, Any]) -> str:
    """Return the digest of the body, which is part of the signed text."""
    if given := _given_digest(environ):
        return given
    # Only S3 names a digest. Without one the body is needed first, so its size is limited.
    environ["wsgi.input"].load(environ, _HASHED_BYTES)
    return _body_digest(environ)


def _check_body(environ: dict[str, Any]) -> None:
    """Read a signed body; raise WrongSignature if its digest is not the signed digest."""
    given = _given_digest(environ)
    if not given:
        return
    environ["wsgi.input"].load(environ)
    # Chunked uploads of boto3 name a method instead, such as STREAMING-UNSIGNED-PAYLOAD-TRAILER.
    is_digest = _DIGEST.fullmatch(given) and int(environ["CONTENT_LENGTH"]) <= _HASHED_BYTES
    if is_digest and given != _body_digest(environ):
        message = "The provided x-amz-content-sha256 header does not match what was computed."
        raise WrongSignature(message, "XAmzContentSHA256Mismatch")


def _given_digest(environ: dict[str, Any]) -> str:
    return str(environ.get("HTTP_X_AMZ_CONTENT_SHA256", ""))


def _body_digest(environ: dict[str, Any]) -> str:
    body = environ["wsgi.input"]
    digest = _sha256(body.read())
    body.seek(0)
    return digest


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode("utf-8"), "sha256")
