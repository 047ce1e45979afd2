"""What is sent and what comes back, without sending anything: shared by both clients."""

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

ATTEMPTS = 6
"""Times that a call is tried at most."""
LONGEST_PAUSE = 30.0
"""Longest pause between two tries that is waited out, in seconds."""
UNDER_WAY = "idempotency_key_under_way"
"""Code of a 409 whose call goes on: it is answered to a repeat."""
REFUSED_CODES = frozenset({"machine_busy", "nothing_is_saved"})
"""Codes of a 503 that promise that nothing was done."""
logging.getLogger("stamina").addHandler(logging.NullHandler())  # repeats are no news on stderr


@dataclass
class Request:
    """One call of the service."""

    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path below the service's address."""
    query: Mapping[str, Any] = field(default_factory=dict)
    """Query parameters; those that are None are left out."""
    fields: Mapping[str, Any] | None = None
    """Fields of the body; those that are None are left out."""
    files: Mapping[str, Source] = field(default_factory=dict)
    """Files of the body, by field."""
    is_public: bool = False
    """True when no token is sent."""
    is_urlencoded: bool = False
    """True when the fields go as a plain HTML form."""
    is_counted_once: bool = False
    """True for a prediction: a 503 costs nothing and may be repeated."""
    key: str = field(default_factory=lambda: str(uuid4()))
    """Sent with what changes something, so that a repeat gets the first answer again."""

    @property
    def is_keyed(self) -> bool:
        """Tell whether the service answers the call once, however often it is sent."""
        return self.method in ("POST", "PUT") and not (self.is_public or self.is_counted_once)

    def arguments(self, token: str | None) -> dict[str, Any]:
        """Return the arguments of httpx's `request`; files are read from their beginning."""
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
        """Tell whether a repeat is safe after an error: no, yes, or yes after so many seconds.

        A prediction is repeated only when the service surely did not count it.
        """
        is_harmless = self.method in ("GET", "DELETE") or self.is_keyed
        if isinstance(error, UnreachableError):
            cause = error.__cause__
            if isinstance(cause, httpx.ConnectTimeout) or _is_tls(cause):
                return False  # the attempts of TCP are over, or a certificate stays what it is
            return is_harmless or isinstance(cause, httpx.ConnectError)
        if not isinstance(error, ApiError):
            return False
        if error.status not in (429, 503) and error.code != UNDER_WAY:
            return False
        is_refused = error.status != 503 or error.code in REFUSED_CODES
        if not (is_harmless or is_refused or self.is_counted_once):
            return False
        if error.retry_after is None:
            return True
        return error.retry_after if error.retry_after <= LONGEST_PAUSE else False


def _sent(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def camel(name: str) -> str:
    """Write a name as the API has it."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _text(value: Any) -> str:
    """Write a value as forms and queries have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def checked(response: httpx.Response) -> httpx.Response:
    """Return an answer that is a success.

    Raises:
        ApiError: the service refused the call or failed.
        UnreadableAnswerError: something else than the service answered.
    """
    if response.is_success:
        return response
    kind = BY_STATUS.get(response.status_code, ApiError)
    try:
        said = response.json()
        message = str(said["message"])
    except (ValueError, KeyError, TypeError):
        if response.status_code not in BY_STATUS:
            raise UnreadableAnswerError(_not_presage(response)) from None
        said, message = {}, f"The answer was {response.status_code} {response.reason_phrase}."
    raise kind(
        response.status_code,
        message,
        code=str(said.get("code", "")),
        detail=str(said.get("detail", "")),
        request_id=response.headers.get("x-amzn-requestid", ""),
        retry_after=_seconds(response.headers.get("retry-after")),
    )


def decoded(response: httpx.Response, kind: type[T]) -> T:
    """Read the record of an answer; members that this version does not know stay in `raw`.

    Raises:
        UnreadableAnswerError: it is no such record.
    """
    try:
        return decode(members(response), kind)
    except msgspec.ValidationError as error:
        raise UnreadableAnswerError(
            f"{response.url} answered what this version does not understand ({error}): update "
            "presage-client, or check the address."
        ) from error


def members(response: httpx.Response) -> dict[str, Any]:
    """Read the JSON object of an answer.

    Raises:
        UnreadableAnswerError: it is none.
    """
    try:
        found = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise UnreadableAnswerError(_not_presage(response))
    return found


def next_offset(response: httpx.Response) -> int | None:
    """Tell where the next page begins; None after the last one."""
    target = response.links.get("next", {}).get("url")
    return None if target is None else int(httpx.URL(target).params["offset"])


def clock_skew(response: httpx.Response, now: float) -> float:
    """Tell by how many seconds this machine's clock is ahead of the service's, 0 if unknown."""
    try:
        return now - parsedate_to_datetime(response.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return 0.0


def unreachable(error: httpx.RequestError, address: str) -> UnreachableError:
    """Say in words that a call had no answer."""
    if _is_tls(error):
        return UnreachableError(
            f"{address} cannot be trusted, or does not speak TLS ({error}): a certificate of your "
            "own is named by SSL_CERT_FILE, and a local stack begins with http://."
        )
    if isinstance(error, httpx.ConnectError):
        return UnreachableError(
            f"Nothing answers at {address}: is the address right, and is the service running?"
        )
    if isinstance(error, httpx.ConnectTimeout):
        return UnreachableError(
            f"{address} did not answer in time: is the address right, also its http:// or https://?"
        )
    if isinstance(error, httpx.TimeoutException):
        return UnreachableError(f"{address} did not answer in time.")
    return UnreachableError(
        f"The connection to {address} broke: {str(error) or type(error).__name__}."
    )


def _is_tls(error: BaseException | None) -> bool:
    """Tell whether the two could not agree on an encrypted connection."""
    return isinstance(error, httpx.ConnectError) and "SSL" in str(error)


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _not_presage(response: httpx.Response) -> str:
    return (
        f"{response.url} answered {response.status_code} with "
        f"{response.headers.get('content-type', 'no content type')}, which is no answer of "
        "Presage: check the address."
    )
