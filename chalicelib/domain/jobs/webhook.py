"""Webhooks: addresses that are told of events, and how each telling went. Beyond, section 6.

Bodies, headers and signatures are those of Standard Webhooks (https://www.standardwebhooks.com).
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

# What a webhook may be told of.
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
# Event of a test.
TEST = "webhook.test"
ENABLED, DISABLED = "ENABLED", "DISABLED"
PENDING, DELIVERED, UNDELIVERED = "PENDING", "DELIVERED", "FAILED"
# Webhooks of an account.
MAX_HOOKS = 10
# Deliveries of a webhook that are listed.
MAX_DELIVERIES = 100
# How long a delivery is remembered at most.
DELIVERY_KEPT = timedelta(days=30)
# A webhook that takes nothing for so long is disabled.
GIVEN_UP_AFTER = timedelta(hours=24)
# How long a former secret goes on signing.
OVERLAP = timedelta(hours=24)
# Longest time of one attempt.
DELIVERY_SECONDS = 10.0
# Between attempts; the last one again and again.
PAUSES = tuple(timedelta(minutes=m) for m in (1, 2, 5, 10, 30, 60, 120, 240))
# Begins a secret.
PREFIX = "whsec_"


class WebhookNotFound(NotFound):
    """The account has no such webhook."""

    code = "webhook_not_found"

    def __init__(self, hook_id: object) -> None:
        super().__init__(f"There is no webhook {hook_id}; GET /v2/webhooks lists them.")


class TooManyWebhooks(Conflict):
    """The account has as many as it may."""

    code = "too_many_webhooks"

    def __init__(self) -> None:
        super().__init__(
            f"The account has {MAX_HOOKS} webhooks, the most allowed. Delete one, or let one of "
            "them have more events."
        )


@dataclass(frozen=True)
class Webhook:
    """An address that is told of events."""

    account_id: str
    """Owner."""
    hook_id: str
    """String id."""
    url: str
    """Where bodies are sent."""
    events: tuple[str, ...]
    """What it is told of."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it last changed."""
    description: str = ""
    """What its owner says of it."""
    status: str = ENABLED
    """ENABLED or DISABLED."""
    cause: str = ""
    """Why it is disabled, or why the last attempt failed."""
    failures: int = 0
    """Attempts that failed since the last success."""
    failing_since: datetime | None = None
    """When the first of them was made."""
    resting_until: datetime | None = None
    """Nothing is sent before."""
    sealed: str = ""
    """Its secret, encrypted."""
    former: str = ""
    """The secret before it, encrypted; empty where there is none."""
    former_until: datetime | None = None
    """Until when that one signs too."""
    rotated_by: str = ""
    """Mark of the call that gave it its secret, so that a repeated one drops no other."""

    def recovered(self) -> Webhook:
        """Forget its failures."""
        return replace(self, failures=0, failing_since=None, resting_until=None, cause="")


@dataclass(frozen=True)
class WebhookEvent:
    """Something that has happened; ids and states only."""

    account_id: str
    """Whose it is."""
    type: str
    """One of EVENTS, or TEST."""
    happened_at: datetime
    """When it happened."""
    data: Mapping[str, object] = field(default_factory=dict)
    """What it is about."""

    @property
    def body(self) -> str:
        """The body that is sent and signed."""
        moment = self.happened_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        members = {"type": self.type, "timestamp": moment, "data": dict(self.data)}
        return json.dumps(members, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class Delivery:
    """An event on its way to one webhook."""

    account_id: str
    """Owner of the webhook."""
    hook_id: str
    """The webhook."""
    key: str
    """Its place among the deliveries of the webhook, which begins with the time."""
    message_id: str
    """Id of the event, the same at every attempt."""
    event: str
    """Type of the event."""
    body: str
    """What is sent."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it last changed."""
    due_at: datetime
    """When it is tried next."""
    status: str = PENDING
    """PENDING, DELIVERED or FAILED."""
    attempts: int = 0
    """How often it was tried."""
    response: int | None = None
    """Status of the last answer."""
    cause: str = ""
    """Why the last attempt failed."""


def checked_events(sent: Sequence[str]) -> tuple[str, ...]:
    """Return events that are known, each once.

    Raises:
        InvalidParameter: there are none, or one is not known.
    """
    unknown = [event for event in sent if event not in EVENTS]
    if unknown or not sent:
        shown = f"{unknown[0][:100]!r} is none" if unknown else "send at least one"
        raise InvalidParameter("events", f"{shown} of {', '.join(EVENTS)}.")
    return tuple(dict.fromkeys(sent))


def new_secret(random: bytes) -> str:
    """Write a secret as receivers take it."""
    return PREFIX + base64.b64encode(random).decode("ascii")


def signature(secrets: Sequence[str], message_id: str, timestamp: int, body: str) -> str:
    """Sign a body with every secret that counts, as the header `webhook-signature` has it."""
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(_key(one), signed, hashlib.sha256)).decode("ascii")
        for one in secrets
    )


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))


def pause_after(failures: int) -> timedelta:
    """Tell how long nothing is sent after so many failures in a row."""
    return PAUSES[min(failures, len(PAUSES)) - 1]
