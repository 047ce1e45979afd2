"""Stores accounts: one row per account, and one row per email address with the account id."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.condition import size
from pynamodb.expressions.update import Action
from pynamodb.models import Model as TableRow

from chalicelib.domain.accounts.account import ACTIVE, CLOSED, Account, AccountKey, ApiCaller
from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts.api_keys import load_api_keys
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.tables import (
    AccountRow,
    ApiKeyRow,
    CounterRow,
    ModelRow,
    RefreshTokenRow,
)
from chalicelib.stores.models.served import SERVED_MEMBERS, load_served

# Maximum length of an email address (RFC 5321). A longer text needs no lookup.
MAX_EMAIL_CHARACTERS = 254
# Maximum length of an id. Ids come from a counter, so a longer text needs no lookup.
MAX_ID_CHARACTERS = 18
# Attempts to change keys: each fails only because another change came first.
MAX_KEY_CHANGES = 10
# Seconds to wait before reading again the rows that a throttled DynamoDB left out of a batch read.
READ_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
# Given an account's current keys, returns the new ones.
KeyChange = Callable[[tuple[AccountKey, ...]], tuple[AccountKey, ...]]


@translate_errors
class AccountStore:
    """Reads and changes accounts. Reads are consistent, so a closed account is noticed at once."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()
        self._clients = clients

    def _read_together(
        self, keys: Mapping[type[TableRow], Mapping[str, str]]
    ) -> dict[type[TableRow], Any]:
        """Read one row of each table with one consistent BatchGetItem call; skip missing rows."""
        tables = {str(row.Meta.table_name): row for row in keys}
        requests = {name: _keys_read(row, keys[row]) for name, row in tables.items()}
        rows: dict[type[TableRow], Any] = {}
        for pause in (*READ_PAUSES, None):
            answer = self._clients.dynamodb.batch_get_item(RequestItems=requests)
            for name, items in answer["Responses"].items():
                for item in items:
                    rows[tables[name]] = tables[name].from_raw_data(item)
            requests = answer.get("UnprocessedKeys")
            if not requests:
                return rows
            if pause is not None:
                time.sleep(pause)
        raise StorageUnavailable

    def create(self, account: Account) -> Account | None:
        """Store a new account under a new id; return None if its email address is taken."""
        # The account's row comes before the row of its address: a crash in between then leaves an
        # unused account row, not an address that can never be registered.
        created = replace(account, account_id=_next_id())
        row = new_row(created)
        # The id is new, so a refusal means that an earlier try of this write succeeded.
        try_write(lambda: row.save(condition=AccountRow.account_id.does_not_exist()))
        try:
            is_free = _register_email(created)
        except PynamoDBException:
            row.delete()
            raise
        if not is_free:
            row.delete()
            return None
        return load_account(row)

    def get(self, account_id: str) -> Account | None:
        """Return the account with an id, or None."""
        row = _row(account_id) if _may_be_id(account_id) else None
        return None if row is None else load_account(row)

    def find_caller(
        self,
        account_id: str,
        refresh_id: str | None = None,
        model_id: str | None = None,
        digest: str | None = None,
    ) -> ApiCaller | None:
        """Read an account, and the model that a call names, with one request to DynamoDB.

        Args:
            account_id: id of the account.
            refresh_id: id of the refresh token that must still exist; None to check no token.
            model_id: id of the model that the call names; None if the call names no model.
            digest: digest of the API key that the account must have; None to check no key.

        Returns:
            The caller; None if the account does not exist, or its refresh token or API key is
                revoked.
        """
        reads: dict[type[TableRow], dict[str, str]] = {AccountRow: {"account_id": account_id}}
        if refresh_id is not None:
            reads[RefreshTokenRow] = {"account_id": account_id, "token_id": refresh_id}
        if model_id is not None and STRING_ID.fullmatch(model_id):
            reads[ModelRow] = {"account_id": account_id, "model_id": model_id}
        if digest is not None:
            reads[ApiKeyRow] = {"lookup": account_id}
        if len(reads) == 1:
            account = self.get(account_id)
            return None if account is None else ApiCaller(account)
        if not _may_be_id(account_id):
            return None
        rows = self._read_together(reads)
        row = rows.get(AccountRow)
        account = None if row is None else load_account(row)
        if account is None or (refresh_id is not None and RefreshTokenRow not in rows):
            return None
        caller = ApiCaller(account, load_served(rows.get(ModelRow)))
        return caller if digest is None else _with_key(caller, digest, rows.get(ApiKeyRow))

    def find_by_email(self, email: str) -> Account | None:
        """Return the account with an email address, ignoring case; None if there is none."""
        pointer = _row(_email_key(email)) if _may_be_email(email) else None
        # No account has the id 0. It is read all the same, so that the response time does not
        # reveal whether an address is registered.
        target = "0" if pointer is None else str(pointer.target)
        account = self.get(target)
        return account if account is not None and account.email == email.lower() else None

    def list_all(self) -> tuple[Account, ...]:
        """Return all accounts in order of id, by reading the whole table."""
        rows = AccountRow.scan(filter_condition=AccountRow.license_id.exists())
        accounts = [account for row in rows if (account := load_account(row)) is not None]
        return tuple(sorted(accounts, key=lambda account: int(account.account_id)))

    def list_due(self, now: datetime) -> tuple[Account, ...]:
        """List the closed accounts whose retention period has ended."""
        over = AccountRow.delete_after <= to_milliseconds(now)
        rows = AccountRow.closed_index.query(CLOSED, over)
        return tuple(account for row in rows if (account := load_account(row)) is not None)

    def set_plan(self, account_id: str, plan: str, source: str) -> Account | None:
        """Change the plan of an active account; return None if no active account has this id."""
        actions: list[Action] = [AccountRow.plan.set(plan), AccountRow.source.set(source)]
        return _update_active(AccountRow(account_id), actions)

    def set_example_calls(self, account_id: str, calls: int) -> Account | None:
        """Set the monthly limit of an active account to `calls` calls that return examples.

        Returns:
            The changed account; None if no active account has this id.
        """
        return _update_active(AccountRow(account_id), [AccountRow.example_calls.set(calls)])

    def change_keys(self, account_id: str, change: KeyChange) -> Account | None:
        """Change the keys of an active account; try again if another call has changed them.

        Returns:
            The changed account; None if no active account has this id.
        """
        for _ in range(MAX_KEY_CHANGES):
            row = _row(account_id)
            account = None if row is None else load_account(row)
            if row is None or account is None or account.status != ACTIVE:
                return None
            if _write_keys(row, change(account.keys)):
                return load_account(row)
        raise StorageUnavailable

    def close(self, account_id: str, delete_after: datetime) -> Account | None:
        """Close an account and remove its keys; return None if no account has this id."""
        row = AccountRow(account_id)
        actions: list[Action] = [
            AccountRow.status.set(CLOSED),
            AccountRow.keys.set([]),
            AccountRow.delete_after.set(to_milliseconds(delete_after)),
            AccountRow.revision.add(1),
        ]
        is_known = AccountRow.status.exists()
        return load_account(row) if try_update(row, actions, is_known) else None

    def delete(self, account: Account) -> None:
        """Delete all rows of a closed account. Its email address can then be registered again."""
        pointer = AccountRow(_email_key(account.email))
        try_write(lambda: pointer.delete(AccountRow.target == account.account_id))
        AccountRow(account.account_id).delete()

    def add_training(self, account_id: str, entry: str, limit: int) -> bool:
        """Add the guard entry of an unfinished training to the row of an account.

        Returns:
            False if the row already has the entries of `limit` other trainings.
        """
        noted = AccountRow.training
        count = size(noted)
        is_allowed = noted.does_not_exist() | (count < limit) | noted.contains(entry)
        row = AccountRow(account_id)
        # A set that does not exist passes the condition, so a limit of 0 is checked here.
        return limit > 0 and try_update(row, [noted.add({entry})], is_allowed)

    def remove_training(self, account_id: str, entries: Iterable[str]) -> None:
        """Remove the guard entries of ended trainings from an account. Idempotent."""
        finished = set(entries)
        if not finished:
            return
        actions: list[Action] = [AccountRow.training.delete(finished)]
        is_any = AccountRow.training.exists()
        try_update(AccountRow(account_id), actions, is_any)

    def training(self, account_id: str) -> frozenset[str]:
        """Return the guard entries of the account's unfinished trainings."""
        row = _row(account_id)
        return frozenset() if row is None else frozenset(row.training or ())


def _may_be_id(account_id: str) -> bool:
    is_number = account_id.isascii() and account_id.isdecimal()
    return is_number and len(account_id) <= MAX_ID_CHARACTERS


def _row(key: str) -> AccountRow | None:
    try:
        return AccountRow.get(key, consistent_read=True)
    except AccountRow.DoesNotExist:
        return None


def _with_key(caller: ApiCaller, digest: str, row: ApiKeyRow | None) -> ApiCaller | None:
    for key in load_api_keys(caller.account.account_id, row):
        if key.digest == digest:
            return replace(caller, key=key)
    return None


def _keys_read(row: type[TableRow], key: Mapping[str, str]) -> dict[str, Any]:
    """Return the part of a BatchGetItem request that reads one row."""
    asked = {"Keys": [{name: {"S": value} for name, value in key.items()}], "ConsistentRead": True}
    if row is ModelRow:
        # A model's row can be large, and a prediction needs only these attributes.
        names = {f"#{place}": name for place, name in enumerate(SERVED_MEMBERS)}
        asked |= {"ProjectionExpression": ",".join(names), "ExpressionAttributeNames": names}
    return asked


def _next_id() -> str:
    counter = CounterRow("accounts")
    counter.update(actions=[CounterRow.value.add(1)])
    return str(int(counter.value))


def _register_email(account: Account) -> bool:
    """Register the email address of an account; return False if another account has it."""
    pointer = AccountRow(_email_key(account.email), target=account.account_id)
    # If the row already names this account, an earlier try wrote it and its response was lost.
    is_free = AccountRow.target.does_not_exist() | (AccountRow.target == account.account_id)
    return try_write(lambda: pointer.save(condition=is_free))


def _update_active(row: AccountRow, actions: list[Action]) -> Account | None:
    is_active = AccountRow.status == ACTIVE
    return load_account(row) if try_update(row, actions, is_active) else None


def _write_keys(row: AccountRow, keys: tuple[AccountKey, ...]) -> bool:
    """Store the keys of an account; return False if `row` has changed since it was read."""
    actions: list[Action] = [AccountRow.keys.set(dump_keys(keys)), AccountRow.revision.add(1)]
    is_unchanged = (AccountRow.revision == row.revision) & (AccountRow.status == ACTIVE)
    return try_update(row, actions, is_unchanged)


def _may_be_email(text: str) -> bool:
    return 0 < len(text) <= MAX_EMAIL_CHARACTERS and text.isprintable()


def _email_key(email: str) -> str:
    return f"EMAIL#{email.lower()}"


def new_row(account: Account) -> AccountRow:
    """Return the row of a new account."""
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
    """Return the account in a row; None for a row of another kind, such as an email address."""
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
        created_at=datetime.fromtimestamp(row.created_at / 1000, UTC),
        delete_after=None if row.delete_after is None else from_milliseconds(row.delete_after),
        example_calls_per_month=None if row.example_calls is None else int(row.example_calls),
    )


def dump_keys(keys: Iterable[AccountKey]) -> list[dict[str, Any]]:
    """Return an account's keys in the form in which its row stores them."""
    return [
        {
            "id": key.key_id,
            "pem": key.public_pem,
            "until": None if key.expires_at is None else to_milliseconds(key.expires_at),
        }
        for key in keys
    ]


def _load_keys(values: Sequence[dict[str, Any]]) -> tuple[AccountKey, ...]:
    return tuple(
        AccountKey(
            value["id"],
            value["pem"],
            None if value["until"] is None else from_milliseconds(value["until"]),
        )
        for value in values
    )
