"""Creates, changes, tests, lists and deletes the webhooks of an account."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.rates import RateLimits
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.ids import STRING_ID, new_string_id
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.jobs.webhook import (
    DELIVERY_SECONDS,
    DISABLED,
    ENABLED,
    TEST,
    Delivery,
    Webhook,
    WebhookEvent,
    WebhookNotFound,
    checked_events,
)
from chalicelib.errors import DownloadFailed, InvalidParameter

if TYPE_CHECKING:
    from chalicelib.stores.accounts.webhooks import WebhookStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.jobs.deliveries import DeliveryStore
    from chalicelib.stores.jobs.events import Events


@dataclass(frozen=True)
class HookFields:
    """Fields of a webhook in a request. None means that a field was not sent."""

    url: str | None = None
    """URL that receives the events."""
    events: tuple[str, ...] | None = None
    """Types of the events to deliver."""
    description: str | None = None
    is_enabled: bool | None = None
    """Whether events are delivered."""


class WebhookService:
    """Manages the webhooks of an account."""

    def __init__(
        self,
        deliveries: DeliveryStore,
        downloads: Downloader,
        events: Events,
        webhooks: WebhookStore,
        rates: RateLimits,
        clock: Clock,
    ) -> None:
        self._hooks = webhooks
        self._deliveries = deliveries
        self._events = events
        self._downloads = downloads
        self._rates = rates
        self._clock = clock

    def of_account(self, account: Account) -> tuple[Webhook, ...]:
        """Return the webhooks of an account in the order of creation."""
        return tuple(self._hooks.of_account(account.account_id))

    def get(self, account: Account, hook_id: str) -> Webhook:
        """Return a webhook; raise WebhookNotFound if the account has no such webhook."""
        is_id = STRING_ID.fullmatch(hook_id) is not None
        found = self._hooks.find(account.account_id, hook_id) if is_id else None
        if found is None:
            raise WebhookNotFound(hook_id[:100])
        return found

    def create(self, account: Account, fields: HookFields) -> tuple[Webhook, str]:
        """Create a webhook; return the webhook, and its secret, which is not shown again.

        Raises:
            InvalidParameter: the URL is not allowed, or an event is unknown.
            TooManyWebhooks: the account has the maximum number of webhooks.
        """
        # Read before the host is looked up, which takes time, so that later attempts have later
        # times.
        now = self._clock()
        events = checked_events(fields.events or ())
        url = self._checked_url(fields.url or "")
        return self._hooks.add(
            Webhook(
                account_id=account.account_id,
                hook_id=object_id(),
                url=url,
                events=events,
                created_at=now,
                updated_at=now,
                description=fields.description or "",
            )
        )

    def change(self, hook: Webhook, fields: HookFields) -> Webhook:
        """Change a webhook. Enabling the webhook or changing its URL ends a pause after failures.

        Raises:
            InvalidParameter: the URL is not allowed, or an event is unknown.
            WebhookNotFound: the webhook was deleted.
        """
        events = None if fields.events is None else checked_events(fields.events)
        url = None if fields.url is None else self._checked_url(fields.url)

        def change(old: Webhook) -> Webhook:
            status = old.status
            if fields.is_enabled is not None:
                status = ENABLED if fields.is_enabled else DISABLED
            changed = replace(
                old,
                url=url or old.url,
                events=events or old.events,
                description=old.description if fields.description is None else fields.description,
                status=status,
                updated_at=self._clock(),
            )
            return changed.recovered() if url or fields.is_enabled else changed

        return self._existing(hook, self._hooks.change(hook.account_id, hook.hook_id, change))

    def rotate(self, hook: Webhook) -> tuple[Webhook, str]:
        """Replace the secret of a webhook. For 24 hours, the old secret also signs deliveries.

        Returns:
            The webhook and its new secret.

        Raises:
            WebhookNotFound: the webhook was deleted.
        """
        rotated = self._hooks.rotate(hook)
        if rotated is None:
            raise WebhookNotFound(hook.hook_id)
        return rotated

    def test(self, hook: Webhook) -> Delivery:
        """Send a `webhook.test` event to a webhook. A paused webhook gets it after the pause.

        Raises:
            InvalidParameter: the webhook is disabled.
            RateExceeded: the account has sent too many tests within a minute.
        """
        if hook.status == DISABLED:
            raise InvalidParameter("webhook_id", "it is disabled; enable it with PUT first.")
        self._rates.check_webhook_test(hook.account_id)
        data = {"id": hook.hook_id}
        event = WebhookEvent(hook.account_id, TEST, self._clock(), data)
        return self._events.send(hook, event, f"msg_{new_string_id()}")

    def deliveries(self, hook: Webhook) -> tuple[Delivery, ...]:
        """Return the last deliveries to a webhook, newest first."""
        return tuple(self._deliveries.newest(hook))

    def delete(self, hook: Webhook) -> None:
        """Delete a webhook. Its pending deliveries are dropped."""
        self._hooks.delete(hook.account_id, hook.hook_id)

    def _checked_url(self, url: str) -> str:
        try:
            self._downloads.check_address(url, DELIVERY_SECONDS)
        except DownloadFailed as error:
            raise InvalidParameter("url", f"it cannot be posted to: {error.reason}") from error
        return url

    def _existing(self, hook: Webhook, stored: Webhook | None) -> Webhook:
        if stored is None:
            raise WebhookNotFound(hook.hook_id)
        return stored
