"""Account rows to domain accounts and back. See chalicelib/stores/accounts.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chalicelib.domain.account import Account, AccountKey
from chalicelib.domain.clock import from_milliseconds, to_milliseconds
from chalicelib.stores.tables import AccountRow


def new_row(account: Account) -> AccountRow:
    """Make the row of a new account."""
    return AccountRow(
        account.account_id,
        email=account.email,
        plan=account.plan,
        source=account.source,
        status=account.status,
        keys=dump_keys(account.keys),
        license_id=account.license_id,
        created_at=to_milliseconds(account.created_at),
        example_calls=account.example_calls_per_month,
    )


def load_account(row: AccountRow) -> Account | None:
    """Make the domain account of a row; None of a row that holds none, such as an address's."""
    if row.license_id is None:
        return None
    return Account(
        account_id=row.account_id,
        email=row.email,
        plan=row.plan,
        source=row.source,
        status=row.status,
        keys=_load_keys(row.keys),
        license_id=row.license_id,
        created_at=from_milliseconds(row.created_at),
        delete_after=None if row.delete_after is None else from_milliseconds(row.delete_after),
        example_calls_per_month=None if row.example_calls is None else int(row.example_calls),
    )


def dump_keys(keys: Iterable[AccountKey]) -> list[dict[str, Any]]:
    """Make the JSON value of an account's keys."""
    return [
        {
            "id": key.key_id,
            "pem": key.public_pem,
            "until": None if key.expires_at is None else to_milliseconds(key.expires_at),
        }
        for key in keys
    ]


def _load_keys(values: Sequence[dict[str, Any]]) -> tuple[AccountKey, ...]:
    """Make the keys of their JSON value."""
    return tuple(
        AccountKey(
            value["id"],
            value["pem"],
            None if value["until"] is None else from_milliseconds(value["until"]),
        )
        for value in values
    )
