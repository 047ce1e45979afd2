"""API keys with several processes. beyond.md, section 11."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.api_key import MAX_KEYS, TooManyApiKeys, digest_of
from chalicelib.errors import InvalidToken, StorageUnavailable
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.services.accounts.api_keys import REMEMBERED_SECONDS, ApiKeyService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.tables import ApiKeyRow
from tests.builders import one_call_at_a_time


@pytest.fixture
def process(clients, clock) -> Callable[[], ApiKeyService]:
    """A function that makes the service as a separate process has it."""
    return lambda: ApiKeyService(AccountStore(clients), ApiKeyStore(clients), clock)


@pytest.fixture
def keys(process) -> ApiKeyService:
    """The service of one process."""
    return process()


@pytest.fixture
def account(clients, clock) -> Account:
    """An account without keys."""
    stores = AccountStore(clients), RefreshTokenStore(clients), ApiKeyStore(clients)
    return AccountService(*stores, clock).create("ann@example.com").account


def test_simultaneous_creations_do_not_pass_the_limit(process, account, clients):
    """Of two simultaneous creations at the limit one is refused; every other call gets its key."""
    one_call_at_a_time(clients)
    services = [process() for _ in range(MAX_KEYS + 1)]

    def create(service: ApiKeyService) -> str | None:
        """Create a key; None when the account has the maximum."""
        for _ in range(100):
            try:
                return service.create(account, "shop")[1]
            except TooManyApiKeys:
                return None
            except StorageUnavailable:
                continue  # too many others were faster
        raise AssertionError("no attempt succeeded")

    with ThreadPoolExecutor(4) as threads:
        secrets = list(threads.map(create, services))

    assert secrets.count(None) == 1
    made = {digest_of(secret) for secret in secrets if secret}
    assert {key.digest for key in services[0].of_account(account)} == made
    assert {row.lookup for row in ApiKeyRow.scan()} == {*made, account.account_id}


def test_failed_creation_leaves_nothing(keys, account, monkeypatch):
    """If the second row cannot be written, the first one is removed again."""
    from botocore.exceptions import EndpointConnectionError
    from pynamodb.exceptions import PutError

    def fail(*_: object, **__: object) -> None:
        """Fail."""
        raise PutError("x", EndpointConnectionError(endpoint_url="https://aws"))

    with monkeypatch.context() as patch:
        patch.setattr(ApiKeyRow, "save", fail)
        with pytest.raises(StorageUnavailable):
            keys.create(account, "shop")

    assert keys.of_account(account) == ()


def test_remembered_owner_is_looked_up_again(keys, account, clock, monkeypatch):
    """A process caches the account of a key for one minute."""
    asked: list[str] = []
    find = ApiKeyStore.find_account
    monkeypatch.setattr(
        ApiKeyStore, "find_account", lambda self, digest: asked.append(digest) or find(self, digest)
    )
    _, secret = keys.create(account, "shop")

    for seconds in (0, REMEMBERED_SECONDS - 1, 1, -5, 0):
        clock.advance(seconds=seconds)
        assert keys.find_caller(secret).account == account

    assert len(asked) == 3


def test_few_owners_are_remembered(keys, account, monkeypatch):
    """The number of cached keys per process is bounded."""
    monkeypatch.setattr("chalicelib.services.accounts.api_keys._MOST_REMEMBERED", 2)
    for _ in range(4):
        keys.find_caller(keys.create(account, "shop")[1])

    assert len(keys._owners) == 2


def test_unknown_keys_are_not_remembered(keys):
    """Unknown keys are not cached, so a flood of them evicts no key in use."""
    for number in range(5):
        with pytest.raises(InvalidToken):
            keys.find_caller(f"pk_{number:043d}")

    assert not keys._owners


def test_use_of_a_key_that_is_revoked_meanwhile_revives_nothing(keys, account, clock):
    """A late write of a key's last use does not restore a revoked key."""
    key, secret = keys.create(account, "shop")
    keys.revoke(key)

    ApiKeyStore.note_use(keys._keys, key, clock() + timedelta(days=2))

    assert keys.of_account(account) == ()
    with pytest.raises(InvalidToken):
        keys.find_caller(secret)


def test_interrupted_revocation_can_be_repeated(keys, account, monkeypatch):
    """After the first step of a revocation the key is invalid but listed, so a retry can finish."""
    key, secret = keys.create(account, "shop")

    def fail(*_: object) -> None:
        """Fail."""
        raise StorageUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(keys._keys, "_change", fail)
        with pytest.raises(StorageUnavailable):
            keys.revoke(key)

    with pytest.raises(InvalidToken):
        keys.find_caller(secret)
    keys.revoke(keys.get(account, key.key_id))
    assert keys.of_account(account) == ()
