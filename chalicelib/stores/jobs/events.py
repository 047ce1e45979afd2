"""Sends the events of an account to the account's webhooks.

For each webhook, a delivery is stored, and a job for this delivery is sent. Services emit an event
after they have written the change that the event reports. Errors are only logged, because receivers
can also read the state with the API.
"""

from __future__ import annotations

from chalicelib import log
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.ids import derived_string_id
from chalicelib.domain.jobs.messages import DeliverJob, postponed
from chalicelib.domain.jobs.webhook import ENABLED, Delivery, Webhook, WebhookEvent
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts.webhooks import WebhookStore
from chalicelib.stores.jobs.deliveries import DeliveryStore
from chalicelib.stores.jobs.queues import DELIVER, Queues, retried_by_sweep


class Events:
    """Stores deliveries of events, and sends their jobs."""

    def __init__(
        self, hooks: WebhookStore, deliveries: DeliveryStore, queues: Queues, clock: Clock
    ) -> None:
        self._hooks = hooks
        self._deliveries = deliveries
        self._queues = queues
        self._clock = clock

    def emit(self, account_id: str, event: str, **data: object) -> None:
        """Send an event to all webhooks that subscribe to it. Pass no user content in `data`."""
        happened = WebhookEvent(account_id, event, self._clock(), data)
        message_id = f"msg_{derived_string_id(account_id, event, sorted(data.items()))}"
        try:
            for hook in self._hooks.of_account(account_id):
                if hook.status == ENABLED and event in hook.events:
                    self.send(hook, happened, message_id)
        except StorageUnavailable as error:
            log.error("event_not_sent", error, account=account_id, type=event)

    def send(self, hook: Webhook, event: WebhookEvent, message_id: str) -> Delivery:
        """Store a delivery and send its job. For a paused webhook, SweepService sends it later."""
        delivery = self._deliveries.create(hook, event, message_id)
        if delivery.due_at <= delivery.created_at:
            self.announce(delivery)
        return delivery

    def announce(self, delivery: Delivery) -> None:
        """Send the job of a delivery. If the queue fails, the periodic sweep sends it later."""
        with retried_by_sweep("deliver", webhook=delivery.hook_id):
            self._queues.send(DELIVER, DeliverJob.of(delivery))

    def announce_later(self, job: DeliverJob) -> None:
        """Send the job of a delivery again with a delay, because its account is at its limit.

        After the last delay, the periodic sweep sends the job.
        """
        if again := postponed(job):
            self._queues.send(DELIVER, *again)
