# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Sends calls: gets and renews access tokens, retries safe calls, and explains errors."""

from __future__ import annotations

import time
from typing import TypeVar

import httpx
from threading import Lock

from presage._auth import TOKEN_PATH, Credentials
from presage._records import Record
from presage._requests import (
    ATTEMPTS,
    LONGEST_PAUSE,
    Request,
    checked,
    clock_skew,
    decoded,
    members,
    unreachable,
)
from presage.errors import AuthenticationError

T = TypeVar("T", bound=Record)

# A larger difference between the two clocks, in seconds, explains a refused token.
MAX_CLOCK_SKEW = 30.0


class Transport:
    """The connection to one service as one account."""

    def __init__(self, credentials: Credentials, http: httpx.Client) -> None:
        self.credentials = credentials
        self.http = http
        self._renewal = Lock()

    def record(self, request: Request, kind: type[T]) -> T:
        """Send a call, and return the record of its response."""
        return decoded(self.send(request), kind)

    def send(self, request: Request) -> httpx.Response:
        """Send a call; retry it if a retry is safe and may succeed.

        Raises:
            ApiError: the service refused the call, or failed.
            UnreachableError: the service did not respond.
        """
        import stamina  # its import takes as long as that of httpx, and only calls need it

        for attempt in stamina.retry_context(
            on=request.pause, attempts=ATTEMPTS, timeout=None, wait_max=LONGEST_PAUSE
        ):
            with attempt:
                return self._send_once(request)
        raise AssertionError("an attempt returns or raises")

    def _send_once(self, request: Request) -> httpx.Response:
        if request.is_public:
            return checked(self._exchange(request, None))
        token = self._token()
        try:
            return checked(self._exchange(request, token))
        except AuthenticationError as error:
            if self.credentials.is_api_key:
                cause = "The API key is wrong, revoked or expired."
                error.args = (f"{str(error).rstrip('.')}. {cause}",)
            if not self.credentials.can_renew:
                raise
        # A second refusal is not caused by an expired token, so the token is renewed only once.
        return checked(self._exchange(request, self._token(rejected_token=token)))

    def _token(self, rejected_token: str | None = None) -> str | None:
        # One of several concurrent calls renews the token for all.
        with self._renewal:
            if not self.credentials.is_fresh or self.credentials.token == rejected_token:
                self._renew()
            return self.credentials.token

    def _exchange(self, request: Request, token: str | None) -> httpx.Response:
        try:
            return self.http.request(**request.arguments(token))
        except httpx.RequestError as error:
            raise unreachable(error, str(self.http.base_url)) from error

    def _renew(self) -> None:
        fields = self.credentials.grant()
        request = Request("POST", TOKEN_PATH, fields=fields, is_public=True, is_urlencoded=True)
        response = self._exchange(request, None)
        try:
            self.credentials.accept(members(checked(response)))
        except AuthenticationError as error:
            # A wrong clock makes an assertion expired or not yet valid, which the service reports
            # as refused.
            skew = clock_skew(response, time.time())
            cause = f"No account {self.credentials.email} with this key is known there."
            if abs(skew) > MAX_CLOCK_SKEW:
                side = "ahead of" if skew > 0 else "behind"
                difference = f"{abs(skew):.0f} seconds {side} the service's"
                cause = f"This machine's clock is {difference}. Correct it."
            error.args = (f"{str(error).rstrip('.')}. {cause}",)
            raise

    def close(self) -> None:
        """Close all connections."""
        self.http.close()
