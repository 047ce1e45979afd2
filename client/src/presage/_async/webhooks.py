"""Webhooks: URLs that the service calls when an event happens."""

from __future__ import annotations

from collections.abc import Sequence

from presage import records
from presage._async.pages import AsyncPages, pages_of
from presage._async.transport import AsyncTransport
from presage._requests import Request


class AsyncWebhooks:
    """The calls below `/v2/webhooks`. Receivers check events with `presage.webhooks.verify`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._base = "/v2/webhooks"

    async def create(
        self, url: str, events: Sequence[str], *, description: str | None = None
    ) -> records.Webhook:
        """Create a webhook. Its `secret` is returned only by this call and by `rotate`.

        Args:
            url: an https URL on the public internet.
            events: event types, such as `training.succeeded`.
            description: any text.
        """
        fields = {"url": url, "events": [*events], "description": description}
        request = Request("POST", self._base, fields=fields)
        return await self._transport.record(request, records.Webhook)

    def list(self) -> AsyncPages[records.Webhook]:
        """List the webhooks of the account."""
        request = Request("GET", self._base)
        return pages_of(self._transport, request, records.Webhook)

    async def get(self, webhook_id: str) -> records.Webhook:
        """Fetch a webhook, without its secret."""
        request = Request("GET", f"{self._base}/{webhook_id}")
        return await self._transport.record(request, records.Webhook)

    async def change(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None = None,
        enabled: bool | None = None,
    ) -> records.Webhook:
        """Change a webhook. None leaves a value unchanged.

        After failed deliveries, the service pauses a webhook. `enabled=True` also ends this pause.
        """
        fields = {
            "url": url,
            "events": None if events is None else [*events],
            "description": description,
            "enabled": enabled,
        }
        request = Request("PUT", f"{self._base}/{webhook_id}", fields=fields)
        return await self._transport.record(request, records.Webhook)

    async def rotate(self, webhook_id: str) -> records.Webhook:
        """Replace the secret of a webhook. For 24 hours, events are signed with both secrets."""
        request = Request("POST", f"{self._base}/{webhook_id}/rotate")
        return await self._transport.record(request, records.Webhook)

    async def test(self, webhook_id: str) -> records.Delivery:
        """Send an event of type `webhook.test` to a webhook; `deliveries` shows the result."""
        request = Request("POST", f"{self._base}/{webhook_id}/test")
        return await self._transport.record(request, records.Delivery)

    def deliveries(self, webhook_id: str) -> AsyncPages[records.Delivery]:
        """List the last 100 deliveries of a webhook, newest first."""
        request = Request("GET", f"{self._base}/{webhook_id}/deliveries")
        return pages_of(self._transport, request, records.Delivery)

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        await self._transport.send(Request("DELETE", f"{self._base}/{webhook_id}"))
