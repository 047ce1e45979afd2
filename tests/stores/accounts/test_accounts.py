"""Account addresses are unique, and concurrent changes are not lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pynamodb.exceptions import PutError

from chalicelib.domain.accounts.account import Account, AccountKey
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts import accounts
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.aws.tables import AccountRow

NOW = datetime(2026, 11, 21, tzinfo=UTC)
LATER = datetime(2026, 12, 21, tzinfo=UTC)


def an_account(email="ann@example.com", **changes) -> Account:
    """Return an account that is not stored."""
    account = Account(
        account_id="",
        email=email,
        plan="STARTER",
        source="HEROKU",
        status="ACTIVE",
        keys=(AccountKey("first", "pem", None),),
        license_id="abcdefghij",
        created_at=NOW,
    )
    return replace(account, **changes)


@pytest.fixture
def store(clients) -> AccountStore:
    """A store on empty tables."""
    return AccountStore(clients)


def test_created_account_is_read_back_whole(store):
    """A created account is found by id and by address, in any case, with every field."""
    key = AccountKey("old", "pem", LATER)
    made = store.create(an_account(keys=(key,), example_calls_per_month=99))

    assert made == an_account(account_id="1", keys=(key,), example_calls_per_month=99)
    assert made == store.get("1")
    assert made == store.find_by_email("ANN@Example.com")


def test_ids_increase_as_decimal_strings(store):
    """Each account has a different id, a decimal number."""
    made = [store.create(an_account(f"{name}@example.com")) for name in "abc"]

    assert [account.account_id for account in made] == ["1", "2", "3"]


def test_an_address_belongs_to_one_account(store):
    """A second account with the same address is refused and leaves nothing behind."""
    store.create(an_account())

    assert store.create(an_account()) is None
    assert [account.account_id for account in store.list_all()] == ["1"]


def test_create_leaves_nothing_when_the_address_cannot_be_written(store, monkeypatch):
    """If the second write fails, the first one is undone and the address stays free."""

    def fail(account):
        """Fail as a throttled table does."""
        raise PutError("throttled")

    with monkeypatch.context() as patch:
        patch.setattr(accounts, "_register_email", fail)
        with pytest.raises(StorageUnavailable):
            store.create(an_account())

    assert store.list_all() == ()
    assert store.create(an_account()) is not None


def test_create_recognises_its_own_first_write(store, monkeypatch):
    """A retried address write whose first response was lost succeeds."""
    point = accounts._register_email
    monkeypatch.setattr(
        accounts, "_register_email", lambda account: point(account) and point(account)
    )

    assert store.create(an_account()) is not None


@pytest.mark.parametrize(
    "account_id", ["", "2", "-1", "EMAIL#ann@example.com", "١", "1" * 3000, "a", "\x00", "\ud800"]
)
def test_get_returns_none_without_an_account(store, account_id):
    """An unusual or unknown id returns None without failing."""
    store.create(an_account())

    assert store.get(account_id) is None


@pytest.mark.parametrize("email", ["", "bob@example.com", "1", "a" * 3000, "\x00", "\ud800@x"])
def test_find_by_email_returns_none_without_an_address(store, email):
    """An unusual or unknown address returns None without failing."""
    store.create(an_account())

    assert store.find_by_email(email) is None


def test_plan_and_example_calls_change(store):
    """Plan, source and individual limit are changed in place; an unknown account is not created."""
    store.create(an_account())

    assert store.set_plan("1", "SFDC_1M_EDITION", "SALESFORCE").predictions_per_month == 1_000_000
    assert store.set_example_calls("1", 500).example_calls_per_month == 500
    assert (
        store.get("1").plan,
        store.get("1").example_calls_per_month,
    ) == ("SFDC_1M_EDITION", 500)
    assert store.set_plan("7", "GOLD", "HEROKU") is None
    assert store.get("7") is None


def test_no_change_of_keys_is_lost(store):
    """A change that conflicts with a concurrent one is repeated on top of it."""
    store.create(an_account())
    calls = []

    def change(keys):
        """Add a key after another change has come first once."""
        calls.append(keys)
        if len(calls) == 1:
            store.change_keys("1", lambda present: (*present, AccountKey("second", "pem")))
        return (*keys, AccountKey("third", "pem"))

    changed = store.change_keys("1", change)

    assert [key.key_id for key in changed.keys] == ["first", "second", "third"]
    assert changed == store.get("1")
    assert store.change_keys("7", change) is None


def test_a_change_that_never_comes_first_is_a_503(store):
    """A change that always conflicts ends with an error instead of an endless loop."""
    store.create(an_account())

    def change(keys):
        """Let another change come first every time."""
        store.change_keys("1", lambda present: present)
        return keys

    with pytest.raises(StorageUnavailable):
        store.change_keys("1", change)


def test_closed_account_has_no_keys_and_stays_closed(store):
    """Closing removes the keys at once, and no later change reopens the account."""
    store.create(an_account())

    closed = store.close("1", LATER)

    assert (closed.status, closed.keys, closed.delete_after) == ("CLOSED", (), LATER)
    assert store.change_keys("1", lambda keys: (AccountKey("new", "pem"),)) is None
    assert store.set_plan("1", "GOLD", "HEROKU") is None
    assert closed == store.get("1")
    assert store.close("7", LATER) is None


def test_deleted_account_frees_its_address(store):
    """Deletion removes both rows, and the address can be used again."""
    made = store.create(an_account())

    store.delete(made)
    store.delete(made)

    assert [row.account_id for row in AccountRow.scan()] == []
    assert store.create(an_account()).account_id == "2"


def test_trainings_are_limited(store):
    """At most `limit` different trainings are recorded; recording one twice counts once."""
    store.create(an_account())

    assert [store.add_training("1", e, 2) for e in ("a", "b", "a", "c")] == [
        True,
        True,
        True,
        False,
    ]
    assert frozenset({"a", "b"}) == store.training("1")

    store.remove_training("1", ["a", "unknown"])
    assert store.add_training("1", "c", 2)
    store.remove_training("1", [])
    store.remove_training("1", ["b", "c"])
    store.remove_training("1", ["b", "c"])
    assert frozenset() == store.training("1")
    assert not store.add_training("1", "d", 0)


def test_unknown_account_has_no_trainings(store):
    """Removing trainings of an account that does not exist creates no row."""
    store.remove_training("7", ["a"])

    assert store.training("7") == frozenset()
    assert list(AccountRow.scan()) == []


def test_store_without_tables_is_unavailable(clients, settings):
    """An AWS error becomes a retryable error."""
    clients.dynamodb.delete_table(TableName=f"{settings.name}-accounts")

    with pytest.raises(StorageUnavailable):
        AccountStore(clients).get("1")
