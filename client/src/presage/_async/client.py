"""The client: a service, as one account."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from presage import records
from presage._async.families import AsyncLanguage, AsyncVision
from presage._async.transport import AsyncTransport
from presage._async.uploads import AsyncUploads
from presage._async.webhooks import AsyncWebhooks
from presage._auth import Credentials
from presage._records import decode
from presage._requests import Request, members
from presage._settings import credentials, credentials_from_env
from presage._version import __version__

TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class AsyncPresage:
    """A client of one service, as one account. Close it, or use it in a `with` statement.

    Example:
        async with AsyncPresage.from_env() as client:
            print((await client.usage()).predictions_used)

    Args:
        url: address of the service; that of a local stack where it is missing.
        email: of the account.
        key: its private key: a file's path, or the text in PEM form.
        token: an access token, in place of e-mail and key; it cannot be renewed.
        http: settings of httpx, such as `timeout`, `proxy` or `verify`.

    Raises:
        ConfigurationError: address or key cannot be used.
    """

    def __init__(
        self,
        url: str | None = None,
        email: str | None = None,
        key: str | Path | None = None,
        *,
        token: str | None = None,
        http: dict[str, Any] | None = None,
    ) -> None:
        self._begin(credentials(url, email, key, token), http)

    @classmethod
    def from_env(cls, *, http: dict[str, Any] | None = None) -> AsyncPresage:
        """Make a client of `PRESAGE_URL`, `PRESAGE_EMAIL` and `PRESAGE_KEY_FILE`.

        `PRESAGE_TOKEN` may stand for the last two; what is missing is taken from the file that
        `presage login` wrote.
        """
        client = cls.__new__(cls)
        client._begin(credentials_from_env(), http)
        return client

    def _begin(self, who: Credentials, http: dict[str, Any] | None) -> None:
        settings: dict[str, Any] = {"timeout": TIMEOUT, **(http or {})}
        headers = {"User-Agent": f"presage-client/{__version__}"}
        self.transport = AsyncTransport(
            who, httpx.AsyncClient(base_url=who.address, headers=headers, **settings)
        )
        self.uploads = AsyncUploads(self.transport)
        self.webhooks = AsyncWebhooks(self.transport)
        self.language = AsyncLanguage(self.transport, self.uploads)
        self.vision = AsyncVision(self.transport, self.uploads)

    async def usage(self) -> records.Usage:
        """Fetch plan and predictions of the present month."""
        response = await self.transport.send(Request("GET", "/v2/apiusage"))
        return decode(members(response)["data"][0], records.Usage)

    async def health(self) -> records.Health:
        """Fetch whether the service runs, and which engines it has; needs no token."""
        request = Request("GET", "/v2/health", is_public=True)
        return await self.transport.record(request, records.Health)

    async def deletion(self, deletion_id: str) -> records.Deletion:
        """Fetch how far a deletion is."""
        request = Request("GET", f"/v2/language/deletion/{deletion_id}")
        return await self.transport.record(request, records.Deletion)

    async def close(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> AsyncPresage:
        """Return the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self.close()
