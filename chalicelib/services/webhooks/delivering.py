"""Delivers events to webhooks, and repeats failed deliveries.

After a failure, all deliveries of the webhook pause. After each pause there is one attempt. After
24 hours of failures the webhook is disabled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib import journal, log
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.jobs.messages import DeliverJob
from chalicelib.domain.jobs.webhook import (
    DELIVERED,
    DELIVERY_SECONDS,
    DISABLED,
    GIVEN_UP_AFTER,
    TEST,
    UNDELIVERED,
    Delivery,
    Webhook,
    pause_after,
    signature,
)
from chalicelib.errors import DownloadFailed
from chalicelib.stores.fetching.pinned_http import Content

if TYPE_CHECKING:
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.accounts.webhooks import WebhookStore
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.jobs.deliveries import DeliveryStore
    from chalicelib.stores.jobs.events import Events

# Status with which a receiver refuses all further events.
_GONE = 410
# A delivery that takes at least this many seconds counts as running for the same time after its
# end.
SLOW_SECONDS = 2.0


class DeliveryService:
    """Delivers events to webhooks."""

    def __init__(
        self,
        deliveries: DeliveryStore,
        downloads: Downloader,
        events: Events,
        webhooks: WebhookStore,
        in_flight: InFlight,
        clock: Clock,
    ) -> None:
        self._hooks = webhooks
        self._deliveries = deliveries
        self._events = events
        self._downloads = downloads
        self._in_flight = in_flight
        self._clock = clock

    def run(self, job: DeliverJob) -> None:
        """Attempt a delivery; if too many deliveries of the account are running, try again later.

        A slow delivery counts as running for some time after its end. So a slow receiver delays
        only the deliveries of the account that it belongs to.
        """
        entry = self._in_flight.begin_delivery(job.account_id)
        if not entry:
            # The job is sent again, because this does not count as a failed attempt.
            self._events.announce_later(job)
            return
        began, rest_seconds = self._clock(), 0.0
        try:
            self._try(job)
        finally:
            elapsed = (self._clock() - began).total_seconds()
            if elapsed >= SLOW_SECONDS:
                rest_seconds = min(elapsed, DELIVERY_SECONDS)
            self._in_flight.end_delivery(job.account_id, entry, rest_seconds)

    def _try(self, job: DeliverJob) -> None:
        """Attempt a delivery, unless it has ended or another worker owns it."""
        delivery = self._deliveries.acquire(job.account_id, job.hook_id, job.key)
        if delivery is None:
            return
        hook = self._hooks.find(delivery.account_id, job.hook_id)
        if hook is None or hook.status == DISABLED:
            cause = "The webhook is disabled." if hook else "The webhook was deleted."
            self._deliveries.end(replace(delivery, cause=cause), UNDELIVERED)
        # A failing webhook pauses with all of its deliveries, so that it costs one attempt per
        # pause.
        elif hook.resting_until and hook.resting_until > self._clock():
            self._deliveries.wait(delivery, hook.resting_until)
        else:
            self._attempt(hook, delivery)

    def announce_due(self) -> int:
        """Send the jobs of all deliveries that are due; return their number."""
        due = self._deliveries.claim_due()
        for delivery in due:
            self._events.announce(delivery)
        return len(due)

    def _attempt(self, hook: Webhook, delivery: Delivery) -> None:
        """Post an event once, and store the outcome."""
        response, cause = self._post(hook, delivery)
        done = replace(delivery, attempts=delivery.attempts + 1, response=response, cause=cause)
        journal.delivery_tried(hook.hook_id, delivery.event, response, failed=bool(cause))
        if not cause:
            self._deliveries.end(done, DELIVERED)
            if hook.failures:
                self._hooks.change(hook.account_id, hook.hook_id, Webhook.recovered)
            return
        if delivery.event == TEST:
            # The owner is waiting for the outcome, so a test is not retried.
            self._deliveries.end(done, UNDELIVERED)
            return
        failed = self._note_failure(hook, cause, is_gone=response == _GONE)
        if failed is None or failed.status == DISABLED or failed.resting_until is None:
            self._deliveries.end(done, UNDELIVERED)
        else:
            self._deliveries.wait(done, failed.resting_until)

    def _post(self, hook: Webhook, delivery: Delivery) -> tuple[int | None, str]:
        """Post an event; return (status of the response, cause of a failure).

        The status is None without a response; the cause is "" after a success.
        """
        secrets = self._hooks.secrets(hook)
        if not secrets:
            return None, "Its secret cannot be read any more; rotate it."
        timestamp = int(self._clock().timestamp())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": delivery.message_id,
            # Receivers reject old timestamps, so a retry is signed again.
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secrets, delivery.message_id, timestamp, delivery.body),
        }
        content = Content(delivery.body.encode(), headers)
        try:
            status = self._downloads.post(hook.url, content, DELIVERY_SECONDS)
        except DownloadFailed as error:
            return None, error.reason
        if 200 <= status < 300:
            return status, ""
        # A redirect could lead to an address that must not be reached.
        if 300 <= status < 400:
            return status, f"It redirects (status {status}), which is not followed."
        return status, f"It answered with status {status}."

    def _note_failure(self, hook: Webhook, cause: str, *, is_gone: bool) -> Webhook | None:
        """Pause a webhook after a failed attempt; disable it after 24 hours of failures.

        If `is_gone` is true, the receiver asked to end deliveries, and the webhook is disabled.
        Return the changed webhook; None if it was deleted.
        """
        now = self._clock()

        def fail(webhook: Webhook) -> Webhook:
            if webhook.resting_until and webhook.resting_until > now:
                # Another attempt failed at the same time, and counts once.
                return webhook
            since, failures = webhook.failing_since or now, webhook.failures + 1
            is_over = is_gone or now - since >= GIVEN_UP_AFTER
            return replace(
                webhook,
                failures=failures,
                failing_since=since,
                resting_until=now + pause_after(failures),
                cause=cause,
                status=DISABLED if is_over else webhook.status,
                updated_at=now if is_over else webhook.updated_at,
            )

        changed = self._hooks.change(hook.account_id, hook.hook_id, fail)
        if changed is not None and changed.status == DISABLED:
            log.warning("webhook_disabled", webhook=hook.hook_id)
        return changed
