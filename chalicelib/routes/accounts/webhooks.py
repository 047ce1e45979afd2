"""Webhooks: URLs that receive events. See beyond.md, section 6."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.jobs.webhook import (
    EVENTS,
    MAX_DELIVERIES,
    MAX_HOOKS,
    Webhook,
    WebhookNotFound,
)
from chalicelib.services.webhooks.hooks import HookFields
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.http.request import JSON
from chalicelib.web.operations.fields import Name
from chalicelib.web.operations.locate import text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, service_records

ONE = "/v2/webhooks/{webhook_id}"
HookUrl = Annotated[
    str,
    msgspec.Meta(
        description="URL that receives the events: an https address on the public internet.",
        examples=["https://shop.example/presage"],
    ),
]
EventList = Annotated[
    list[Annotated[str, msgspec.Meta(extra_json_schema={"enum": [*EVENTS]})]],
    msgspec.Meta(
        description="Events that the webhook receives.",
        examples=[["training.succeeded", "training.failed"]],
        extra_json_schema={"minItems": 1},
    ),
]


class WebhookForm(msgspec.Struct):
    """Fields of a new webhook."""

    # Forms have no lists, so webhooks are created from JSON only.
    media_types: ClassVar[tuple[str, ...]] = (JSON,)
    json_rules: ClassVar[dict[str, Any]] = {}

    url: HookUrl
    events: EventList
    description: Name | None = None


class WebhookChangesForm(msgspec.Struct):
    """Changes of a webhook."""

    media_types: ClassVar[tuple[str, ...]] = (JSON,)
    json_rules: ClassVar[dict[str, Any]] = {}

    url: HookUrl | None = None
    events: EventList | None = None
    description: Name | None = None
    enabled: bool | None = None


def locate_webhook(call: Call) -> Webhook:
    """Return the webhook that the path names."""
    hook_id = text_id(call.request.parameters["webhook_id"], WebhookNotFound)
    return call.container.webhooks.get(call.account, hook_id)


@Operation(
    "POST",
    "/v2/webhooks",
    # Without a stored answer, a repeated call could not return the secret again.
    takes_key=True,
    form=WebhookForm,
    statuses=(409,),
)
def create_webhook(call: Call) -> service_records.WebhookRecord:
    """Create a webhook. The secret that signs its events is returned only here."""
    form: WebhookForm = call.form
    fields = HookFields(form.url, tuple(form.events), form.description)
    return describe.webhook(*call.container.webhooks.create(call.account, fields))


@Operation("GET", "/v2/webhooks")
def list_webhooks(call: Call) -> ListAnswer[service_records.WebhookRecord]:
    """List the webhooks of the account."""
    page = ListPage(call.container.webhooks.of_account(call.account), 0, has_more=False)
    return list_answer(page, describe.webhook, Window(0, MAX_HOOKS))


@Operation("GET", ONE, locate=locate_webhook)
def get_webhook(call: Call) -> service_records.WebhookRecord:
    """Return a webhook without its secret."""
    return describe.webhook(call.target)


@Operation("PUT", ONE, locate=locate_webhook, takes_key=True, form=WebhookChangesForm)
def change_webhook(call: Call) -> service_records.WebhookRecord:
    """Change the URL or the events of a webhook, or enable or disable it."""
    form: WebhookChangesForm = call.form
    events = None if form.events is None else tuple(form.events)
    fields = HookFields(form.url, events, form.description, form.enabled)
    return describe.webhook(call.container.webhooks.change(call.target, fields))


@Operation("DELETE", ONE, locate=locate_webhook, status=204)
def delete_webhook(call: Call) -> None:
    """Delete a webhook; pending deliveries are dropped."""
    call.container.webhooks.delete(call.target)


@Operation("POST", f"{ONE}/rotate", locate=locate_webhook, takes_key=True)
def rotate_webhook(call: Call) -> service_records.WebhookRecord:
    """Replace the secret of a webhook.

    The new secret is returned only here; for 24 hours, the old secret signs, too.
    """
    return describe.webhook(*call.container.webhooks.rotate(call.target))


@Operation("POST", f"{ONE}/test", locate=locate_webhook, takes_key=True)
def test_webhook(call: Call) -> service_records.DeliveryRecord:
    """Send a webhook an event of type `webhook.test`."""
    return describe.delivery(call.container.webhooks.test(call.target))


@Operation("GET", f"{ONE}/deliveries", locate=locate_webhook)
def list_deliveries(call: Call) -> ListAnswer[service_records.DeliveryRecord]:
    """List the last 100 deliveries of a webhook, the newest first."""
    page = ListPage(call.container.webhooks.deliveries(call.target), 0, has_more=False)
    return list_answer(page, describe.delivery, Window(0, MAX_DELIVERIES))
