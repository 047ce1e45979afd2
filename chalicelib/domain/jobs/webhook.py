"""Webhooks: URLs that are notified of events, and the deliveries to them. See beyond.md, section 6.

Bodies, headers and signatures follow Standard Webhooks (https://www.standardwebhooks.com).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.errors import Conflict, InvalidParameter, NotFound

# Events that a webhook can subscribe to.
EVENTS = (
    "dataset.ready",
    "dataset.failed",
    "training.succeeded",
    "training.failed",
    "deletion.done",
    "batch.done",
    "batch.failed",
    "export.ready",
    "quota.80",
    "quota.100",
)
# Event of a test delivery.
TEST = "webhook.test"
ENABLED, DISABLED = "ENABLED", "DISABLED"
PENDING, DELIVERED, UNDELIVERED = "PENDING", "DELIVERED", "FAILED"
# Maximum number of webhooks of an account.
MAX_HOOKS = 10
# Deliveries of a webhook that are listed.
MAX_DELIVERIES = 100
# A delivery expires after 30 days.
DELIVERY_KEPT = timedelta(days=30)
# A webhook whose deliveries fail for a day is disabled.
GIVEN_UP_AFTER = timedelta(hours=24)
# How long a former secret still signs, so that receivers can switch.
OVERLAP = timedelta(hours=24)
# Timeout of one attempt.
DELIVERY_SECONDS = 10.0
# Pauses between attempts; the last one repeats.
PAUSES = tuple(timedelta(minutes=m) for m in (1, 2, 5, 10, 30, 60, 120, 240))
PREFIX = "whsec_"


class WebhookNotFound(NotFound):
    """The account has no such webhook."""

    code = "webhook_not_found"

    def __init__(self, hook_id: object) -> None:
        super().__init__(f"There is no webhook {hook_id}; GET /v2/webhooks lists them.")


class TooManyWebhooks(Conflict):
    """The account has the maximum number of webhooks."""

    code = "too_many_webhooks"

    def __init__(self) -> None:
        super().__init__(
            f"The account has {MAX_HOOKS} webhooks, the most allowed. Delete one, or add the "
            "events to one of them."
        )


@dataclass(frozen=True)
class Webhook:
    """A URL that receives events."""

    account_id: str
    hook_id: str
    url: str
    events: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    description: str = ""
    status: str = ENABLED
    """ENABLED or DISABLED."""
    cause: str = ""
    """Why the webhook is disabled, or why the last delivery failed."""
    failures: int = 0
    failing_since: datetime | None = None
    """When the first delivery of the current series of failures failed; None without failures."""
    resting_until: datetime | None = None
    """No delivery is attempted before this moment."""
    sealed: str = ""
    former: str = ""
    """The secret before the last rotation, encrypted; empty if there was no rotation."""
    former_until: datetime | None = None
    """Time until which deliveries are also signed with the former secret."""
    rotated_by: str = ""
    """Id of the call that set the secret, so that its retry does not rotate the secret again."""

    def recovered(self) -> Webhook:
        """Return the webhook without any data about failures, after a successful delivery."""
        return replace(self, failures=0, failing_since=None, resting_until=None, cause="")


@dataclass(frozen=True)
class WebhookEvent:
    """An event that is sent to webhooks; contains only ids and states."""

    account_id: str
    type: str
    """One of EVENTS, or TEST."""
    happened_at: datetime
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """Return the body that is sent and signed."""
        moment = self.happened_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        members = {"type": self.type, "timestamp": moment, "data": dict(self.data)}
        return json.dumps(members, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class Delivery:
    """The delivery of an event to one webhook."""

    account_id: str
    hook_id: str
    key: str
    """Sort key of the delivery, unique within its webhook; begins with the time."""
    message_id: str
    """Id of the event, the same in every attempt."""
    event: str
    body: str
    created_at: datetime
    updated_at: datetime
    due_at: datetime
    status: str = PENDING
    """PENDING, DELIVERED or FAILED."""
    attempts: int = 0
    response: int | None = None
    """HTTP status of the last attempt; None if there was no response."""
    cause: str = ""


def checked_events(event_types: Sequence[str]) -> tuple[str, ...]:
    """Check event types, and return them without duplicates.

    Raises:
        InvalidParameter: the list is empty, or an event type is unknown.
    """
    unknown = [event for event in event_types if event not in EVENTS]
    if unknown or not event_types:
        shown = f"{unknown[0][:100]!r} is not one" if unknown else "send at least one"
        raise InvalidParameter("events", f"{shown} of {', '.join(EVENTS)}.")
    return tuple(dict.fromkeys(event_types))


def new_secret(random: bytes) -> str:
    """Encode random bytes as a webhook secret of Standard Webhooks."""
    return PREFIX + base64.b64encode(random).decode("ascii")


def signature(secrets: Sequence[str], message_id: str, timestamp: int, body: str) -> str:
    """Return the value of the header `webhook-signature`, with a signature for each secret."""
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(_key(one), signed, hashlib.sha256)).decode("ascii")
        for one in secrets
    )


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))


def pause_after(failures: int) -> timedelta:
    """Return how long to wait before the next delivery, after `failures` failures in a row."""
    return PAUSES[min(failures, len(PAUSES)) - 1]
