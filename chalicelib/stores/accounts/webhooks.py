"""Webhooks: one row per account has all of its webhooks, in the table of accounts.

So one read finds the receivers of an event, and one condition enforces the maximum number. Secrets
are encrypted.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.repeats import mark
from chalicelib.domain.jobs.webhook import (
    MAX_HOOKS,
    OVERLAP,
    TooManyWebhooks,
    Webhook,
    new_secret,
)
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.member_rows import MemberRows
from chalicelib.stores.aws.secrets import Seal, SecretStore
from chalicelib.stores.aws.tables import AccountRow

_SECRET_BYTES = 32
_ROWS: MemberRows[Webhook] = MemberRows(
    AccountRow, "account_id", "hooks", Webhook, lambda hook: hook.hook_id
)


@translate_errors
class WebhookStore:
    """Reads and changes the webhooks of accounts."""

    def __init__(self, clients: Clients, secrets: SecretStore, clock: Clock) -> None:
        clients.bind_tables()
        self._seal = Seal(secrets, "webhooks")
        self._clock = clock

    def of_account(self, account_id: str) -> list[Webhook]:
        """List the webhooks of an account from the oldest to the newest."""
        return _ROWS.load(account_id, _ROWS.read(_row_key(account_id)))

    def find(self, account_id: str, hook_id: str) -> Webhook | None:
        """Return a webhook of an account, or None."""
        return next((one for one in self.of_account(account_id) if one.hook_id == hook_id), None)

    def add(self, hook: Webhook) -> tuple[Webhook, str]:
        """Store a webhook with a new secret. Replace the webhook of an earlier attempt at the call.

        Returns:
            The webhook and its secret, which is not returned again.

        Raises:
            TooManyWebhooks: the account has the maximum number of webhooks.
            StorageUnavailable: a later attempt at this call has stored the webhook.
        """
        secret = new_secret(os.urandom(_SECRET_BYTES))
        hook = replace(hook, sealed=self._closed(hook, secret))

        def change(hooks: dict[str, Webhook]) -> None:
            if len(hooks) >= MAX_HOOKS and hook.hook_id not in hooks:
                raise TooManyWebhooks
            if hook.hook_id in hooks and hooks[hook.hook_id].created_at > hook.created_at:
                raise StorageUnavailable
            hooks[hook.hook_id] = hook

        self._change(hook.account_id, change)
        return hook, secret

    def change(
        self, account_id: str, hook_id: str, change: Callable[[Webhook], Webhook]
    ) -> Webhook | None:
        """Change a webhook and return it; None if it does not exist."""

        def change_one(hooks: dict[str, Webhook]) -> None:
            if hook_id in hooks:
                hooks[hook_id] = change(hooks[hook_id])

        return self._change(account_id, change_one).get(hook_id)

    def rotate(self, hook: Webhook) -> tuple[Webhook, str] | None:
        """Replace the secret of a webhook. For one more day, the old secret signs deliveries, too.

        Returns:
            The webhook and its new secret, which is not returned again; None for a deleted webhook.
        """
        secret, now, call = new_secret(os.urandom(_SECRET_BYTES)), self._clock(), mark() or ""

        def turn(webhook: Webhook) -> Webhook:
            # If an earlier attempt of the same call died, its secret was never returned, so the
            # secret before it stays the previous one.
            is_again = bool(call) and webhook.rotated_by == call
            if is_again and webhook.updated_at > now:
                # A later attempt at this call has returned its secret, which must stay valid.
                return webhook
            return replace(
                webhook,
                sealed=self._closed(webhook, secret),
                former=webhook.former if is_again else webhook.sealed,
                former_until=now + OVERLAP,
                rotated_by=call,
                updated_at=now,
            )

        changed = self.change(hook.account_id, hook.hook_id, turn)
        return None if changed is None else (changed, secret)

    def secrets(self, hook: Webhook) -> list[str]:
        """Return the secrets that sign deliveries; [] if the signing key cannot decrypt them."""
        sealed = [hook.sealed]
        if hook.former and hook.former_until and hook.former_until > self._clock():
            sealed.append(hook.former)
        place = _place(hook)
        opened = (self._seal.open(base64.b64decode(one), place) for one in sealed)
        return [one.decode() for one in opened if one is not None]

    def delete(self, account_id: str, hook_id: str) -> None:
        """Delete a webhook. A missing webhook is ignored."""

        def remove(hooks: dict[str, Webhook]) -> None:
            hooks.pop(hook_id, None)

        self._change(account_id, remove)

    def delete_all(self, account_id: str) -> None:
        """Delete all webhooks of an account."""
        AccountRow(_row_key(account_id)).delete()

    def _closed(self, hook: Webhook, secret: str) -> str:
        return base64.b64encode(self._seal.close(secret.encode(), _place(hook))).decode("ascii")

    def _change(
        self, account_id: str, change: Callable[[dict[str, Webhook]], None]
    ) -> dict[str, Webhook]:
        """Change the webhooks of an account; return all of them after the change, by id."""
        _, after = _ROWS.change(account_id, _row_key(account_id), change)
        return after


def _row_key(account_id: str) -> str:
    return f"HOOKS#{account_id}"


def _place(hook: Webhook) -> bytes:
    return f"{hook.account_id} {hook.hook_id}".encode()
