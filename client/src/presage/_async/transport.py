"""Sends calls: gets and renews tokens, repeats what may be repeated, names what went wrong."""

from __future__ import annotations

import time
from typing import TypeVar

import httpx

from presage._async.clock import Lock
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

LARGEST_SKEW = 30.0
"""Seconds that two clocks may differ before a refused token is put down to them."""


class AsyncTransport:
    """One service, as one account."""

    def __init__(self, credentials: Credentials, http: httpx.AsyncClient) -> None:
        self.credentials = credentials
        self.http = http
        self._renewal = Lock()

    async def record(self, request: Request, kind: type[T]) -> T:
        """Send a call and return the record of its answer."""
        return decoded(await self.send(request), kind)

    async def send(self, request: Request) -> httpx.Response:
        """Send a call, again and again where that is safe and promising.

        Raises:
            ApiError: the service refused it or failed.
            UnreachableError: it did not answer.
        """
        import stamina  # costs as much as httpx itself, and only calls need it

        async for attempt in stamina.retry_context(
            on=request.pause, attempts=ATTEMPTS, timeout=None, wait_max=LONGEST_PAUSE
        ):
            with attempt:
                return await self._send_once(request)
        raise AssertionError("an attempt returns or raises")

    async def _send_once(self, request: Request) -> httpx.Response:
        """Send a call with a token that lives; one that has died meanwhile is replaced once."""
        if request.is_public:
            return checked(await self._exchange(request, None))
        token = await self._token()
        try:
            return checked(await self._exchange(request, token))
        except AuthenticationError:
            if not self.credentials.can_renew:
                raise
        return checked(await self._exchange(request, await self._token(refused=token)))

    async def _token(self, refused: str | None = None) -> str | None:
        """Return a token that lives; of many callers at the same time one fetches it for all.

        Args:
            refused: a token that the service no longer takes.
        """
        async with self._renewal:
            if not self.credentials.is_fresh or self.credentials.token == refused:
                await self._renew()
            return self.credentials.token

    async def _exchange(self, request: Request, token: str | None) -> httpx.Response:
        try:
            return await self.http.request(**request.arguments(token))
        except httpx.RequestError as error:
            raise unreachable(error, str(self.http.base_url)) from error

    async def _renew(self) -> None:
        """Get a token.

        Raises:
            AuthenticationError: the service refused the assertion; a wrong clock is named.
        """
        fields = self.credentials.grant()
        request = Request("POST", TOKEN_PATH, fields=fields, is_public=True, is_urlencoded=True)
        response = await self._exchange(request, None)
        try:
            self.credentials.accept(members(checked(response)))
        except AuthenticationError as error:
            skew = clock_skew(response, time.time())
            cause = f"No account {self.credentials.email} with this key is known there."
            if abs(skew) > LARGEST_SKEW:
                side = "ahead of" if skew > 0 else "behind"
                difference = f"{abs(skew):.0f} seconds {side} the service's"
                cause = f"This machine's clock is {difference}: set it right."
            error.args = (f"{str(error).rstrip('.')}. {cause}",)
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        await self.http.aclose()
