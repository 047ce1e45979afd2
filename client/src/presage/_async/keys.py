"""API keys: secrets that programs send instead of an access token."""

from __future__ import annotations

from datetime import datetime

from presage import records
from presage._api_keys import PREFIX
from presage._async.pages import AsyncPages, pages_of
from presage._async.transport import AsyncTransport
from presage._requests import Request
from presage.errors import ConfigurationError


class AsyncKeys:
    """The calls below `/v2/keys`. They need an access token, not an API key."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._base = "/v2/keys"

    async def create(
        self, name: str, *, scope: str = "all", expires_at: datetime | str | None = None
    ) -> records.ApiKey:
        """Create an API key. Its `secret` is returned only by this call.

        Args:
            name: 1 to 64 characters.
            scope: `all` or `predict`. A key of scope `predict` allows only single predictions,
                documents, metrics and usage.
            expires_at: when the key expires; by default never. A datetime without a time zone is
                local time.
        """
        if isinstance(expires_at, datetime):
            expires_at = expires_at.astimezone().isoformat()
        fields = {"name": name, "scope": scope, "expiresAt": expires_at}
        request = Request("POST", self._base, fields=fields)
        return await self._transport.record(request, records.ApiKey)

    def list(self) -> AsyncPages[records.ApiKey]:
        """List the API keys of the account, the oldest first."""
        request = Request("GET", self._base)
        return pages_of(self._transport, request, records.ApiKey)

    async def delete(self, key_id: str) -> records.ApiKey:
        """Revoke an API key immediately.

        Args:
            key_id: `id` of the key.

        Raises:
            ConfigurationError: `key_id` is the secret of a key. A secret must not become part of a
                URL.
        """
        if key_id.strip().startswith(PREFIX):
            raise ConfigurationError("Pass the id of the API key, not the key itself.")
        request = Request("DELETE", f"{self._base}/{key_id}")
        return await self._transport.record(request, records.ApiKey)
