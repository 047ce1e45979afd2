"""A refresh token lives exactly as long as its row."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def store(clients) -> RefreshTokenStore:
    """A store on an empty table."""
    return RefreshTokenStore(clients)


def test_token_lives_until_it_is_deleted(store):
    """A token is alive for its own account from its creation to its deletion, which counts once."""
    store.create("1", "a", "key", NOW)

    assert store.is_alive("1", "a")
    assert not store.is_alive("2", "a")
    assert not store.delete("2", "a")
    assert store.delete("1", "a")
    assert not store.delete("1", "a")
    assert not store.is_alive("1", "a")


def test_delete_all_takes_one_account_only(store):
    """All tokens of an account die, nobody else's."""
    for account_id in ("1", "1", "2"):
        store.create(account_id, f"{account_id}-a", "key", NOW)
    store.create("1", "1-b", "key", NOW)

    store.delete_all("1")

    assert [store.is_alive(t[0], t) for t in ("1-a", "1-b", "2-a")] == [False, False, True]
