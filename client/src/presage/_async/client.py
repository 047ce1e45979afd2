"""The client, which calls one service as one account."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from presage import records
from presage._async.families import AsyncLanguage, AsyncVision
from presage._async.keys import AsyncKeys
from presage._async.transport import AsyncTransport
from presage._async.uploads import AsyncUploads
from presage._async.webhooks import AsyncWebhooks
from presage._auth import Credentials
from presage._records import decode
from presage._requests import Request, members
from presage._settings import credentials, credentials_from_env
from presage._version import __version__

# Connecting takes a moment or fails; an answer of OCR or a large file may take a minute.
TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class AsyncPresage:
    """A client that calls one service as one account. Close it, or use it as a context manager.

    Example:
        async with AsyncPresage.from_env() as client:
            print((await client.usage()).predictions_used)

    Args:
        url: address of the service; by default a local stack.
        email: email address of the account.
        key: private key: the path of a file, or its text in PEM format.
        token: an access token, instead of email and key. The client cannot renew it.
        api_key: an API key (`pk_…`), instead of email and key.
        http: options of httpx, such as `timeout`, `proxy` or `verify`.

    Raises:
        ConfigurationError: the address or key cannot be used.
    """

    def __init__(
        self,
        url: str | None = None,
        email: str | None = None,
        key: str | Path | None = None,
        *,
        token: str | None = None,
        api_key: str | None = None,
        http: dict[str, Any] | None = None,
    ) -> None:
        self._begin(credentials(url, email, key, token, api_key), http)

    @classmethod
    def from_env(
        cls, *, profile: str | None = None, http: dict[str, Any] | None = None
    ) -> AsyncPresage:
        """Create a client from `PRESAGE_URL`, `PRESAGE_EMAIL` and `PRESAGE_KEY_FILE`.

        Instead of the email and key file, you can set `PRESAGE_TOKEN`, `PRESAGE_API_KEY` or
        `PRESAGE_API_KEY_FILE`. Missing values come from the login file, which `presage login`
        writes. `PRESAGE_PROFILE` selects a profile in this file.

        Args:
            profile: a profile in the login file; if given, the environment variables are ignored.
            http: options of httpx.
        """
        # Not by the constructor, which takes explicit credentials.
        client = cls.__new__(cls)
        client._begin(credentials_from_env(profile=profile), http)
        return client

    def _begin(self, auth: Credentials, http: dict[str, Any] | None) -> None:
        # The caller's options come last, so that they win over the defaults.
        settings: dict[str, Any] = {"timeout": TIMEOUT, **(http or {})}
        headers = {"User-Agent": f"presage-client/{__version__}"}
        self.transport: AsyncTransport = AsyncTransport(
            auth, httpx.AsyncClient(base_url=auth.address, headers=headers, **settings)
        )
        self.uploads: AsyncUploads = AsyncUploads(self.transport)
        self.webhooks: AsyncWebhooks = AsyncWebhooks(self.transport)
        self.keys: AsyncKeys = AsyncKeys(self.transport)
        self.language: AsyncLanguage = AsyncLanguage(self.transport, self.uploads)
        self.vision: AsyncVision = AsyncVision(self.transport, self.uploads)
        # Each family refers to the other one, so both must exist first.
        self.language.sibling, self.vision.sibling = self.vision, self.language

    async def whoami(self) -> records.Account:
        """Fetch the account with which the client is signed in."""
        return await self.transport.record(Request("GET", "/v2/whoami"), records.Account)

    async def usage(self) -> records.Usage:
        """Fetch the account's plan, and its number of predictions in the current month."""
        response = await self.transport.send(Request("GET", "/v2/apiusage"))
        return decode(members(response)["data"][0], records.Usage)

    async def health(self) -> records.Health:
        """Fetch the state of the service and its engines. This call needs no token."""
        request = Request("GET", "/v2/health", is_public=True)
        return await self.transport.record(request, records.Health)

    async def deletion(self, deletion_id: str) -> records.Deletion:
        """Fetch the state of a deletion that runs in the background."""
        # Each family finds the deletions of both families.
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
