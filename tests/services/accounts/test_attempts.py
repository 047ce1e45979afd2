"""When attempts at a call that returns a secret overlap, the later attempt's secret stays valid."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.errors import StorageUnavailable
from chalicelib.services.webhooks.hooks import HookFields
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.webhooks import WebhookStore
from tests.builders import World

FIELDS = HookFields(url="https://example.com/hook", events=("batch.done",))


@pytest.fixture(autouse=True)
def without_network(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the addresses of webhooks."""
    monkeypatch.setattr(world.stores.downloads, "check_address", lambda *_: None)


def attempt(world: World, number: int) -> AbstractContextManager[None]:
    """Return the context of an attempt at a call with an idempotency key."""
    return under_key(
        KeyedCall(world.account.account_id, "k", "r", "D" * 26, world.clock(), 0, number)
    )


def delay_until(
    monkeypatch: pytest.MonkeyPatch, store: type, method: str, other: Callable[[], object]
) -> None:
    """Run another attempt before the first call of a store's method."""
    real = getattr(store, method)

    def wait(*args: Any) -> Any:
        monkeypatch.setattr(store, method, real)
        other()
        return real(*args)

    monkeypatch.setattr(store, method, wait)


def test_a_slow_attempt_leaves_the_api_key_of_the_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow first attempt does not invalidate the API key that the later attempt returned."""
    service, secrets = world.container.api_keys, []

    def later() -> None:
        world.clock.advance(seconds=1)
        with attempt(world, 2):
            secrets.append(service.create(world.account, "shop")[1])

    delay_until(monkeypatch, ApiKeyStore, "add", later)
    with attempt(world, 1), pytest.raises(StorageUnavailable):
        service.create(world.account, "shop")

    [key] = service.of_account(world.account)
    found = service.find_caller(secrets[0]).key
    assert found is not None
    assert found.key_id == key.key_id


def test_a_slow_attempt_leaves_the_webhook_of_the_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow first attempt does not invalidate the webhook secret that the later one returned."""
    service, secrets = world.container.webhooks, []

    def later() -> None:
        world.clock.advance(seconds=1)
        with attempt(world, 2):
            secrets.append(service.create(world.account, FIELDS)[1])

    delay_until(monkeypatch, WebhookStore, "add", later)
    with attempt(world, 1), pytest.raises(StorageUnavailable):
        service.create(world.account, FIELDS)

    [hook] = service.of_account(world.account)
    assert world.stores.webhooks.secrets(hook) == secrets


def test_a_slow_attempt_leaves_the_rotated_secret_of_the_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow first rotation does not replace the secret that the later one returned."""
    service = world.container.webhooks
    hook, first = service.create(world.account, FIELDS)
    secrets: list[str] = []

    def later() -> None:
        world.clock.advance(seconds=1)
        with attempt(world, 2):
            secrets.append(service.rotate(hook)[1])

    delay_until(monkeypatch, WebhookStore, "change", later)
    with attempt(world, 1):
        service.rotate(hook)

    [now] = service.of_account(world.account)
    assert world.stores.webhooks.secrets(now) == [*secrets, first]
