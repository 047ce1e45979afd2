"""Deliveries of events to webhooks. Each delivery is a row in the table of exports.

Each webhook has its own partition. Lists of exports do not read these partitions. The sort key
begins with the time. Backups skip the table, and its TTL deletes the rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.jobs.webhook import (
    DELIVERY_KEPT,
    DELIVERY_SECONDS,
    MAX_DELIVERIES,
    PENDING,
    Delivery,
    Webhook,
    WebhookEvent,
)
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.rows import load
from chalicelib.stores.aws.tables import DeliveryRow

# Index partition of unfinished deliveries, sorted by the time of the next attempt.
OPEN = "DELIVERY"
# After this time the message of a due delivery is regarded as lost and sent again.
ANNOUNCED_AGAIN = timedelta(minutes=5)
# Due deliveries for which one sweep sends messages.
ANNOUNCED_AT_ONCE = 500
# Three times the longest attempt, so that a slow attempt is not repeated while it runs.
_LEASE = timedelta(seconds=3 * DELIVERY_SECONDS)


@translate_errors
class DeliveryStore:
    """Reads deliveries, and changes their state by single conditional writes."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def create(self, hook: Webhook, event: WebhookEvent, message_id: str) -> Delivery:
        """Store a delivery of an event. The delivery is due now, or after the webhook's pause."""
        now = self._clock()
        due = max(hook.resting_until or now, now)
        delivery = Delivery(
            account_id=hook.account_id,
            hook_id=hook.hook_id,
            key=f"{to_milliseconds(now):014d}-{new_string_id()}",
            message_id=message_id,
            event=event.type,
            body=event.body,
            created_at=now,
            updated_at=now,
            due_at=due,
        )
        row = DeliveryRow(
            _owner(hook.account_id, hook.hook_id),
            delivery.key,
            account=hook.account_id,
            hook_id=hook.hook_id,
            message_id=message_id,
            event=event.type,
            body=event.body,
            status=PENDING,
            created_at=to_milliseconds(now),
            updated_at=to_milliseconds(now),
            # If the message is lost, the sweep finds the row at this time.
            due_at=to_milliseconds(due if due > now else now + ANNOUNCED_AGAIN),
            expires_at=to_milliseconds(now + DELIVERY_KEPT) // 1000,
            open=OPEN,
        )
        try_write(lambda: row.save(condition=DeliveryRow.key.does_not_exist()))
        return delivery

    def newest(self, hook: Webhook) -> list[Delivery]:
        """List the last deliveries of a webhook, newest first."""
        rows = DeliveryRow.query(
            _owner(hook.account_id, hook.hook_id),
            scan_index_forward=False,
            limit=MAX_DELIVERIES,
            consistent_read=True,
        )
        return [_load(row) for row in rows]

    def acquire(self, account_id: str, hook_id: str, key: str) -> Delivery | None:
        """Acquire a delivery for one attempt; None if it has ended or another worker owns it."""
        now, owner = self._clock(), secrets.token_hex(8)
        row = DeliveryRow(_owner(account_id, hook_id), key)
        is_over = lease_is_over(DeliveryRow.lease_until, to_milliseconds(now))
        free = is_over | (DeliveryRow.lease_owner == owner)
        actions: list[Action] = [
            DeliveryRow.lease_until.set(to_milliseconds(now + _LEASE)),
            DeliveryRow.lease_owner.set(owner),
        ]
        return _load(row) if try_update(row, actions, _is_pending() & free) else None

    def wait(self, delivery: Delivery, due_at: datetime) -> None:
        """Store a failed attempt and the time of the next attempt, and end the lease."""
        actions = [DeliveryRow.due_at.set(to_milliseconds(due_at)), *self._outcome(delivery)]
        try_update(_row(delivery), actions, _is_pending())

    def end(self, delivery: Delivery, status: str) -> None:
        """End a delivery with the result of its last attempt."""
        actions = [
            DeliveryRow.status.set(status),
            DeliveryRow.open.remove(),
            *self._outcome(delivery),
        ]
        try_update(_row(delivery), actions, _is_pending())

    def claim_due(self) -> list[Delivery]:
        """Return the deliveries that are due, so that the caller sends their jobs.

        Their due times are set a little later, so that a simultaneous sweep does not return them.
        """
        now = self._clock()
        due = DeliveryRow.due_at <= to_milliseconds(now)
        rows = DeliveryRow.open_index.query(OPEN, due, limit=ANNOUNCED_AT_ONCE)
        later: Sequence[Action] = [DeliveryRow.due_at.set(to_milliseconds(now + ANNOUNCED_AGAIN))]
        return [_load(row) for row in rows if try_update(row, later, _is_pending() & due)]

    def _outcome(self, delivery: Delivery) -> list[Action]:
        response = delivery.response
        return [
            DeliveryRow.attempts.set(delivery.attempts),
            # Not every DynamoDB accepts an empty string.
            DeliveryRow.cause.set(delivery.cause) if delivery.cause else DeliveryRow.cause.remove(),
            DeliveryRow.response.remove()
            if response is None
            else DeliveryRow.response.set(response),
            DeliveryRow.lease_until.set(0),
            DeliveryRow.updated_at.set(to_milliseconds(self._clock())),
        ]


def _is_pending() -> Condition:
    pending: Condition = DeliveryRow.status == PENDING
    return pending


def _owner(account_id: str, hook_id: str) -> str:
    return f"{account_id}#hook#{hook_id}"


def _row(delivery: Delivery) -> DeliveryRow:
    return DeliveryRow(_owner(delivery.account_id, delivery.hook_id), delivery.key)


def _load(row: DeliveryRow) -> Delivery:
    response = None if row.response is None else int(row.response)
    return load(Delivery, row, account_id=row.account, response=response)
