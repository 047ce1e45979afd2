"""The records of the service: deletions, webhooks, usage, API keys, tokens, health.

describe.py creates them. tests/spec/test_records.py compares them with the examples in contract
section 4.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.accounts.api_key import ALL, PREDICT
from chalicelib.domain.jobs.deletion import DATASET, MODEL, QUEUED, RUNNING, SUCCEEDED, WAITING
from chalicelib.domain.jobs.webhook import (
    DELIVERED,
    DISABLED,
    ENABLED,
    EVENTS,
    PENDING,
    TEST,
    UNDELIVERED,
)
from chalicelib.domain.models.model_files import STATES
from chalicelib.web.records.members import Number

DeletionType = Annotated[str, Meta(extra_json_schema={"enum": [DATASET, MODEL]})]
DeletionStatus = Annotated[
    str, Meta(extra_json_schema={"enum": [QUEUED, RUNNING, SUCCEEDED, WAITING]})
]

HookEvent = Annotated[str, Meta(extra_json_schema={"enum": [*EVENTS]})]
KeyScope = Annotated[str, Meta(extra_json_schema={"enum": [ALL, PREDICT]})]
HookStatus = Annotated[str, Meta(extra_json_schema={"enum": [ENABLED, DISABLED]})]
DeliveryStatus = Annotated[str, Meta(extra_json_schema={"enum": [PENDING, DELIVERED, UNDELIVERED]})]


class DeletionRecord(msgspec.Struct, rename="camel"):
    """A deletion that runs in the background."""

    id: str
    organization_id: str
    type: DeletionType
    status: DeletionStatus
    progress: Number
    message: str | None
    object: Literal["deletion"]
    deleted_object_id: str


class WebhookRecord(msgspec.Struct, rename="camel", kw_only=True):
    """A webhook. Its secret is returned only when it is created or replaced."""

    id: str
    url: str
    events: list[HookEvent]
    description: str
    status: HookStatus
    created_at: str
    updated_at: str
    failure_msg: str | UnsetType = UNSET
    secret: str | UnsetType = UNSET
    object: Literal["webhook"] = "webhook"


class ApiKeyRecord(msgspec.Struct, rename="camel", kw_only=True):
    """An API key. Its secret is returned only when it is created."""

    id: str
    name: str
    scope: KeyScope
    prefix: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    secret: str | UnsetType = UNSET
    object: Literal["key"] = "key"


class DeliveryRecord(msgspec.Struct, rename="camel", kw_only=True):
    """The delivery of an event to a webhook."""

    id: str
    event: Annotated[str, Meta(extra_json_schema={"enum": [*EVENTS, TEST]})]
    status: DeliveryStatus
    attempts: int
    response_status: int | UnsetType = UNSET
    failure_msg: str | UnsetType = UNSET
    next_attempt_at: str | UnsetType = UNSET
    created_at: str
    updated_at: str
    object: Literal["delivery"] = "delivery"


class PlanRecord(msgspec.Struct):
    """The plan of an account."""

    plan: str
    amount: int
    source: str


class UsageRecord(msgspec.Struct, rename="camel"):
    """The predictions that an account has made in a calendar month."""

    id: str
    organization_id: str
    starts_at: str
    ends_at: str
    plan_data: list[PlanRecord]
    license_id: str
    object: Literal["apiusage"]
    predictions_remaining: int
    predictions_used: int
    predictions_max: int


class AccountRecord(msgspec.Struct):
    """The account that a token or API key belongs to."""

    id: str
    email: str
    plan: str
    scope: KeyScope
    object: Literal["account"]


class TokenRecord(msgspec.Struct):
    """An access token, and a refresh token if the scope requested one."""

    access_token: str
    refresh_token: str | UnsetType
    token_type: Literal["Bearer"]
    expires_in: int


class EnginePartRecord(msgspec.Struct):
    """A network of an engine. Title and digest are null if it is not installed."""

    name: str
    state: Annotated[str, Meta(extra_json_schema={"enum": [*STATES]})]
    title: str | None
    sha256: str | None


class UnsavedRecord(msgspec.Struct, rename="camel"):
    """Changes that cannot be saved, and would be lost if the service stopped now."""

    since: str
    datasets: int
    models: int


class HealthRecord(msgspec.Struct, rename="camel"):
    """The health of the service and its engines."""

    status: Literal["ok"]
    version: str
    engines: dict[str, str]
    engine_parts: list[EnginePartRecord] | UnsetType = UNSET
    unsaved: UnsavedRecord | UnsetType = UNSET
