"""Accounts, one row each, beside one row per e-mail address that points to its account."""

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
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.tables import AccountRow, CounterRow, ModelRow, RefreshTokenRow
from chalicelib.stores.models.served import SERVED_MEMBERS, load_served

MAX_EMAIL_CHARACTERS = 254
"""Longest address of RFC 5321; a longer one is nobody's and is not looked up."""
MAX_ID_CHARACTERS = 18
"""Longest account id that is looked up."""
MAX_KEY_CHANGES = 10
"""How often a change of keys is tried again after another change came first."""
READ_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Waits before rows are asked for again that a read of several left out, in seconds."""
KeyChange = Callable[[tuple[AccountKey, ...]], tuple[AccountKey, ...]]
"""Makes an account's new keys of its present ones."""


@translate_errors
class AccountStore:
    """Reads and changes accounts; every read is consistent, so a closed account is out at once."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()
        self._clients = clients

    def _read_together(
        self, reads: Mapping[type[TableRow], Mapping[str, str]]
    ) -> dict[type[TableRow], Any]:
        """Read a row of each of several tables in one trip, by their keys; consistent reads."""
        tables = {str(row.Meta.table_name): row for row in reads}
        requests = {name: _keys_read(row, reads[row]) for name, row in tables.items()}
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
        """Write a new account under a fresh id; None when its address is taken.

        The account's row is written before the address points to it: whatever breaks in between
        leaves a row that nobody can use, never an address that nobody can have.
        """
        created = replace(account, account_id=_next_id())
        row = new_row(created)
        # The id is fresh, so a refusal means that a repeated call met its own first write.
        try_write(lambda: row.save(condition=AccountRow.account_id.does_not_exist()))
        try:
            is_free = _point(created)
        except PynamoDBException:
            row.delete()
            raise
        if not is_free:
            row.delete()
            return None
        return load_account(row)

    def get(self, account_id: str) -> Account | None:
        """Find an account by its id."""
        row = _row(account_id) if _may_be_id(account_id) else None
        return None if row is None else load_account(row)

    def find_caller(
        self, account_id: str, refresh_id: str | None = None, model_id: str | None = None
    ) -> ApiCaller | None:
        """Find an account with what its call needs beside it, in one trip.

        Args:
            account_id: as a token names it.
            refresh_id: of the refresh token that must be alive too; None where there is none.
            model_id: of the model that the call names; None where it names none.

        Returns:
            The account; None when there is none, or its refresh token is dead.
        """
        reads: dict[type[TableRow], dict[str, str]] = {AccountRow: {"account_id": account_id}}
        if refresh_id is not None:
            reads[RefreshTokenRow] = {"account_id": account_id, "token_id": refresh_id}
        if model_id is not None and STRING_ID.fullmatch(model_id):
            reads[ModelRow] = {"account_id": account_id, "model_id": model_id}
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
        return ApiCaller(account, load_served(rows.get(ModelRow)))

    def find_by_email(self, email: str) -> Account | None:
        """Find an account by its address, in any case.

        An unknown address costs as many reads as a known one, so that time tells nothing.
        """
        pointer = _row(_email_key(email)) if _may_be_email(email) else None
        # No account has the id 0; reading it all the same hides that the address is unknown.
        target = "0" if pointer is None else str(pointer.target)
        account = self.get(target)
        return account if account is not None and account.email == email.lower() else None

    def list_all(self) -> tuple[Account, ...]:
        """List every account by id; for administrators, as it reads the whole table."""
        rows = AccountRow.scan(filter_condition=AccountRow.license_id.exists())
        accounts = [account for row in rows if (account := load_account(row)) is not None]
        return tuple(sorted(accounts, key=lambda account: int(account.account_id)))

    def list_due(self, now: datetime) -> tuple[Account, ...]:
        """List the closed accounts whose time to keep their data is over."""
        over = AccountRow.delete_after <= to_milliseconds(now)
        rows = AccountRow.closed_index.query(CLOSED, over)
        return tuple(account for row in rows if (account := load_account(row)) is not None)

    def set_plan(self, account_id: str, plan: str, source: str) -> Account | None:
        """Change the plan of an active account; None when there is none."""
        actions: list[Action] = [AccountRow.plan.set(plan), AccountRow.source.set(source)]
        return _update_active(AccountRow(account_id), actions)

    def set_example_calls(self, account_id: str, calls: int) -> Account | None:
        """Set an active account's limit of calls that return examples; None when none is."""
        return _update_active(AccountRow(account_id), [AccountRow.example_calls.set(calls)])

    def change_keys(self, account_id: str, change: KeyChange) -> Account | None:
        """Replace an active account's keys, so that of two changes at once neither is lost.

        Returns:
            The changed account, or None when there is no active account of this id.
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
        """Close an account and drop its keys; None when there is no account of this id."""
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
        """Remove a closed account's rows; its address may be used again afterwards."""
        pointer = AccountRow(_email_key(account.email))
        try_write(lambda: pointer.delete(AccountRow.target == account.account_id))
        AccountRow(account.account_id).delete()

    def add_training(self, account_id: str, entry: str, limit: int) -> bool:
        """Note an unfinished training, unless the account has `limit` others; may be repeated."""
        noted = AccountRow.training
        count = size(noted)  # type: ignore[no-untyped-call]
        has_room = noted.does_not_exist() | (count < limit) | noted.contains(entry)
        row = AccountRow(account_id)
        return limit > 0 and try_update(row, [noted.add({entry})], has_room)

    def remove_training(self, account_id: str, entries: Iterable[str]) -> None:
        """Forget trainings that are finished; may be repeated."""
        finished = set(entries)
        if not finished:
            return
        actions: list[Action] = [AccountRow.training.delete(finished)]
        is_any = AccountRow.training.exists()
        try_update(AccountRow(account_id), actions, is_any)

    def training(self, account_id: str) -> frozenset[str]:
        """Read the unfinished trainings."""
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


def _keys_read(row: type[TableRow], key: Mapping[str, str]) -> dict[str, Any]:
    """Ask for one row in the words of BatchGetItem; of a model what a prediction reads alone."""
    asked = {"Keys": [{name: {"S": value} for name, value in key.items()}], "ConsistentRead": True}
    if row is ModelRow:
        names = {f"#{place}": name for place, name in enumerate(SERVED_MEMBERS)}
        asked |= {"ProjectionExpression": ",".join(names), "ExpressionAttributeNames": names}
    return asked


def _next_id() -> str:
    counter = CounterRow("accounts")
    counter.update(actions=[CounterRow.value.add(1)])
    return str(int(counter.value))


def _point(account: Account) -> bool:
    """Let the address point to the account; False when it points to another."""
    pointer = AccountRow(_email_key(account.email), target=account.account_id)
    # An address that points here already was written by a first call whose answer was lost.
    is_free = AccountRow.target.does_not_exist() | (AccountRow.target == account.account_id)
    return try_write(lambda: pointer.save(condition=is_free))


def _update_active(row: AccountRow, actions: list[Action]) -> Account | None:
    """Change an active account's row; None when there is none."""
    is_active = AccountRow.status == ACTIVE
    return load_account(row) if try_update(row, actions, is_active) else None


def _write_keys(row: AccountRow, keys: tuple[AccountKey, ...]) -> bool:
    """Write the keys; False when the row has changed since it was read."""
    actions: list[Action] = [AccountRow.keys.set(dump_keys(keys)), AccountRow.revision.add(1)]
    is_unchanged = (AccountRow.revision == row.revision) & (AccountRow.status == ACTIVE)
    return try_update(row, actions, is_unchanged)


def _may_be_email(text: str) -> bool:
    return 0 < len(text) <= MAX_EMAIL_CHARACTERS and text.isprintable()


def _email_key(email: str) -> str:
    return f"EMAIL#{email.lower()}"


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
        created_at=datetime.fromtimestamp(row.created_at / 1000, UTC),
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
