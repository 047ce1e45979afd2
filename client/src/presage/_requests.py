"""Requests and responses without I/O. The sync client and the async client share this module."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import msgspec

from presage._records import Record, decode
from presage._sources import Source
from presage.errors import BY_STATUS, ApiError, UnreachableError, UnreadableAnswerError

T = TypeVar("T", bound=Record)

# Maximum number of attempts of a call.
ATTEMPTS = 6
# Seconds: a longer `Retry-After` raises the error instead of blocking the caller.
LONGEST_PAUSE = 30.0
# Code of a 409 while the first attempt is running; a retry gets the response of that attempt.
UNDER_WAY = "idempotency_key_under_way"
# Codes of a 503 that guarantee that nothing was done.
REFUSED_CODES = frozenset({"machine_busy", "nothing_is_saved"})
# Without a handler, Python prints the warnings about retries to stderr.
logging.getLogger("stamina").addHandler(logging.NullHandler())


@dataclass
class Request:
    """One call of the API."""

    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path, relative to the service's address."""
    query: Mapping[str, Any] = field(default_factory=dict)
    """Query parameters; None values are omitted."""
    fields: Mapping[str, Any] | None = None
    """Fields of the body; None values are omitted."""
    files: Mapping[str, Source] = field(default_factory=dict)
    """Files of the body, by field."""
    is_public: bool = False
    """Whether the call needs no access token."""
    is_urlencoded: bool = False
    """Whether the fields are sent as an urlencoded form."""
    is_counted_once: bool = False
    """Whether the call is a prediction. It is retried only if it was certainly not counted."""
    is_read: bool = False
    """Whether a POST request changes and counts nothing, so that it is retried as a GET is."""
    key: str = field(default_factory=lambda: str(uuid4()))
    """Idempotency key: a retry gets the response of the first attempt."""

    @property
    def is_keyed(self) -> bool:
        """Return whether an idempotency key makes retries safe."""
        is_exempt = self.is_public or self.is_counted_once or self.is_read
        return self.method in ("POST", "PUT") and not is_exempt

    def arguments(self, token: str | None) -> dict[str, Any]:
        """Return the arguments for `httpx.request`; rewind each file to its beginning."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if self.is_keyed:
            headers["Idempotency-Key"] = self.key
        arguments: dict[str, Any] = {"method": self.method, "url": self.path, "headers": headers}
        if query := _sent(self.query):
            arguments["params"] = {name: _text(value) for name, value in query.items()}
        fields = None if self.fields is None else _sent(self.fields)
        if self.files:
            arguments["data"] = {name: _text(value) for name, value in (fields or {}).items()}
            arguments["files"] = {name: source.part() for name, source in self.files.items()}
        elif self.is_urlencoded:
            arguments["data"] = fields
        elif fields is not None:
            arguments["json"] = fields
        return arguments

    def pause(self, error: Exception) -> bool | float:
        """Return the seconds to wait before a retry; True: the usual pause; False: no retry."""
        is_harmless = self.method in ("GET", "DELETE") or self.is_keyed or self.is_read
        if isinstance(error, UnreachableError):
            cause = error.__cause__
            if isinstance(cause, httpx.ConnectTimeout) or _is_tls(cause):
                return False  # TCP has already retried, and a certificate does not change
            return is_harmless or isinstance(cause, httpx.ConnectError)
        if not isinstance(error, ApiError):
            return False
        if error.status not in (429, 503) and error.code != UNDER_WAY:
            return False
        is_refused = error.status != 503 or error.code in REFUSED_CODES
        # A prediction is retried only if the service certainly did not count it.
        if not (is_harmless or is_refused or self.is_counted_once):
            return False
        if error.retry_after is None:
            return True
        return error.retry_after if error.retry_after <= LONGEST_PAUSE else False


def _sent(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def checked(response: httpx.Response) -> httpx.Response:
    """Return a successful response.

    Raises:
        ApiError: the service refused the call, or failed.
        UnreadableAnswerError: the response is not from Presage.
    """
    if response.is_success:
        return response
    error_class = BY_STATUS.get(response.status_code, ApiError)
    try:
        said = response.json()
        message = str(said["message"])
    except (ValueError, KeyError, TypeError):
        if response.status_code not in BY_STATUS:
            raise UnreadableAnswerError(_not_presage(response)) from None
        said, message = {}, f"The answer was {response.status_code} {response.reason_phrase}."
    raise error_class(
        response.status_code,
        message,
        code=str(said.get("code", "")),
        detail=_detail_text(said.get("detail", "")),
        raw=said,
        request_id=response.headers.get("x-amzn-requestid", ""),
        retry_after=_seconds(response.headers.get("retry-after")),
    )


def _detail_text(detail: object) -> str:
    # The detail of a refused file can be an object, for programs.
    return detail if isinstance(detail, str) else ""


def decoded(response: httpx.Response, kind: type[T]) -> T:
    """Decode the record of a response; unknown members are in `raw`.

    Raises:
        UnreadableAnswerError: the response is not a record of this type.
    """
    try:
        record = decode(members(response), kind)
    except msgspec.ValidationError as error:
        raise UnreadableAnswerError(
            f"{response.url} sent a response that this version does not understand ({error}): "
            "update presage-client, or check the address."
        ) from error
    # The error of a failed job names the call that began it.
    record.__dict__["request_id"] = response.headers.get("x-amzn-requestid", "")
    return record


def members(response: httpx.Response) -> dict[str, Any]:
    """Decode the JSON object of a response.

    Raises:
        UnreadableAnswerError: the response is not a JSON object.
    """
    try:
        found = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise UnreadableAnswerError(_not_presage(response))
    return found


def next_offset(response: httpx.Response) -> int | None:
    """Return the offset of the next page; None after the last page."""
    target = response.links.get("next", {}).get("url")
    return None if target is None else int(httpx.URL(target).params["offset"])


def clock_skew(response: httpx.Response, now: float) -> float:
    """Return the seconds by which this machine's clock is ahead of the service; 0 if unknown."""
    try:
        return now - parsedate_to_datetime(response.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return 0.0


def unreachable(error: httpx.RequestError, address: str) -> UnreachableError:
    """Return the error for a call to which the service did not respond, with the likely cause."""
    if _is_tls(error):
        return UnreachableError(
            f"{address} cannot be trusted, or does not speak TLS ({error}). Set SSL_CERT_FILE to "
            "trust your own certificate; the address of a local stack starts with http://."
        )
    if isinstance(error, httpx.ConnectError):
        return UnreachableError(
            f"Cannot connect to {address}. Check the address, and that the service is running."
        )
    if isinstance(error, httpx.ConnectTimeout):
        return UnreachableError(
            f"{address} did not answer in time. Check the address, also its http:// or https://."
        )
    if isinstance(error, httpx.TimeoutException):
        return UnreachableError(f"{address} did not answer in time.")
    return UnreachableError(
        f"The connection to {address} broke: {str(error) or type(error).__name__}."
    )


def _is_tls(error: BaseException | None) -> bool:
    return isinstance(error, httpx.ConnectError) and "SSL" in str(error)


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _not_presage(response: httpx.Response) -> str:
    return (
        f"{response.url} answered {response.status_code} with "
        f"{response.headers.get('content-type', 'no content type')}, which is not a "
        "response of Presage: check the address."
    )
