"""A refresh token is valid exactly as long as its row exists."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.stores.accounts import refresh_tokens
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.tables import RefreshTokenRow

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def store(clients) -> RefreshTokenStore:
    """A store on an empty table."""
    return RefreshTokenStore(clients)


def is_alive(account_id: str, token_id: str) -> bool:
    """Return whether a token's row exists."""
    keys = [(account_id, token_id)]
    return bool(list(RefreshTokenRow.batch_get(keys, consistent_read=True)))


def test_token_lives_until_it_is_deleted(store):
    """A token is valid for its own account until it is deleted; deleting it twice counts once."""
    store.create("1", "a", "key", NOW)

    assert is_alive("1", "a")
    assert not is_alive("2", "a")
    assert not store.delete("2", "a")
    assert store.delete("1", "a")
    assert not store.delete("1", "a")
    assert not is_alive("1", "a")


def test_delete_all_takes_one_account_only(store):
    """All tokens of an account are revoked, and no others."""
    for account_id in ("1", "1", "2"):
        store.create(account_id, f"{account_id}-a", "key", NOW)
    store.create("1", "1-b", "key", NOW)

    store.delete_all("1")

    assert [is_alive(t[0], t) for t in ("1-a", "1-b", "2-a")] == [False, False, True]


def test_token_beyond_the_limit_revokes_the_least_recently_used(store, monkeypatch):
    """Above the limit the least recently used token is revoked."""
    monkeypatch.setattr(refresh_tokens, "MAX_TOKENS", 3)
    for second, token_id in enumerate("abc"):
        store.create("1", token_id, "key", NOW + timedelta(seconds=second))
    store.create("2", "z", "key", NOW)
    store.touch("1", "a", NOW + timedelta(seconds=9))
    store.touch("1", "gone", NOW)

    store.create("1", "d", "key", NOW + timedelta(seconds=10))

    assert [token for token in "abcd" if is_alive("1", token)] == ["a", "c", "d"]
    assert is_alive("2", "z")
    assert not is_alive("1", "gone")
