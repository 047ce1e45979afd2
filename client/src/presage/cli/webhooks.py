"""`presage webhooks`: create, list, show, test, rotate, deliveries, enable, disable, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from presage.cli.context import Json, client
from presage.cli.output import print_json, say, show, table
from presage.records import Webhook

app = typer.Typer(
    no_args_is_help=True, help="Webhooks: URLs that Presage calls when an event happens."
)

HookId = Annotated[str, typer.Argument(help="Id of a webhook.", show_default=False)]


@app.command()
def create(
    url: Annotated[str, typer.Argument(help="Your https URL.", show_default=False)],
    events: Annotated[
        list[str],
        typer.Argument(help="Event types, such as training.succeeded.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Create a webhook. Its signing secret is shown only once."""
    with client() as service:
        made = service.webhooks.create(url, events)
    # The service does not show the secret again.
    show(made, [f"webhook {made.id}", f"secret {made.secret}"], as_json=as_json)


@app.command("list")
def list_webhooks(as_json: Json = False) -> None:
    """List your webhooks."""
    with client() as service:
        found = service.webhooks.list().list()
    if as_json:
        print_json(found)
        return
    rows = [(one.id, one.status, one.url, ", ".join(one.events)) for one in found]
    for line in table(("ID", "STATUS", "ADDRESS", "EVENTS"), rows):
        say(line)


@app.command("show")
def show_webhook(webhook_id: HookId, as_json: Json = False) -> None:
    """Show a webhook."""
    with client() as service:
        found = service.webhooks.get(webhook_id)
    show(found, [_line(found)], as_json=as_json)


@app.command("test")
def send_test(webhook_id: HookId, as_json: Json = False) -> None:
    """Send an event of type webhook.test."""
    with client() as service:
        sent = service.webhooks.test(webhook_id)
    lines = [f"{sent.id} is {sent.status}; see presage webhooks deliveries"]
    show(sent, lines, as_json=as_json)


@app.command()
def rotate(webhook_id: HookId, as_json: Json = False) -> None:
    """Replace the signing secret. For 24 hours, the old secret signs events too."""
    with client() as service:
        found = service.webhooks.rotate(webhook_id)
    show(found, [f"secret {found.secret}"], as_json=as_json)


@app.command()
def deliveries(webhook_id: HookId, as_json: Json = False) -> None:
    """List the last deliveries, newest first."""
    with client() as service:
        found = service.webhooks.deliveries(webhook_id).list()
    if as_json:
        print_json(found)
        return
    rows = [
        (one.created_at, one.event, one.status, str(one.attempts), one.failure_msg or "")
        for one in found
    ]
    for line in table(("CREATED", "EVENT", "STATUS", "ATTEMPTS", "CAUSE"), rows):
        say(line)


@app.command()
def enable(webhook_id: HookId, as_json: Json = False) -> None:
    """Enable a webhook. This also ends its pause after failed deliveries."""
    _switch(webhook_id, enabled=True, as_json=as_json)


@app.command()
def disable(webhook_id: HookId, as_json: Json = False) -> None:
    """Disable a webhook."""
    _switch(webhook_id, enabled=False, as_json=as_json)


@app.command()
def delete(webhook_id: HookId) -> None:
    """Delete a webhook."""
    with client() as service:
        service.webhooks.delete(webhook_id)
    say(f"webhook {webhook_id} is deleted")


def _switch(webhook_id: str, *, enabled: bool, as_json: bool) -> None:
    with client() as service:
        found = service.webhooks.change(webhook_id, enabled=enabled)
    show(found, [_line(found)], as_json=as_json)


def _line(hook: Webhook) -> str:
    cause = f": {hook.failure_msg}" if hook.failure_msg else ""
    return f"{hook.url}: {hook.status}, {', '.join(hook.events)}{cause}"
