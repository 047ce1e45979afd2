"""API keys: one row per account has all of its keys, and one row per key names the account.

A key is valid only while the account's row lists it. So one consistent read of the account's row
shows every revocation, and one condition on this row enforces the maximum number of keys. The rows
are in a separate table, which backups skip.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from pynamodb.exceptions import PynamoDBException

from chalicelib.domain.accounts.api_key import MAX_KEYS, ApiKey, TooManyApiKeys
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.member_rows import MemberRows
from chalicelib.stores.aws.tables import ApiKeyRow

_ROWS: MemberRows[ApiKey] = MemberRows(ApiKeyRow, "lookup", "keys", ApiKey, lambda key: key.key_id)


@translate_errors
class ApiKeyStore:
    """Reads and changes the API keys of accounts."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def of_account(self, account_id: str) -> list[ApiKey]:
        """List the keys of an account in the order of their creation."""
        return load_api_keys(account_id, _ROWS.read(account_id))

    def find_account(self, digest: str) -> str | None:
        """Return the account id of a key, even if the key was revoked; None for an unknown key."""
        row: ApiKeyRow | None = _ROWS.read(digest)
        return None if row is None else row.target

    def add(self, key: ApiKey) -> None:
        """Store an API key; if an earlier attempt at the call stored a key, replace that key.

        Raises:
            TooManyApiKeys: the account has the maximum number of keys.
            StorageUnavailable: a later attempt at the same call has already stored its key.
        """

        def change(keys: dict[str, ApiKey]) -> None:
            if len(keys) >= MAX_KEYS and key.key_id not in keys:
                raise TooManyApiKeys
            if key.key_id in keys and keys[key.key_id].created_at > key.created_at:
                raise StorageUnavailable
            keys[key.key_id] = key

        replaced = self._change(key.account_id, change).get(key.key_id)
        try:
            # Written after the list of keys, so that the list contains every key that has a row.
            ApiKeyRow(key.digest, target=key.account_id).save()
            if replaced is not None:
                ApiKeyRow(replaced.digest).delete()
        except PynamoDBException:
            with suppress(PynamoDBException, StorageUnavailable):
                self.remove(key)
            raise

    def remove(self, key: ApiKey) -> None:
        """Revoke an API key. A key that is already revoked is ignored."""
        # Deleted before the key is taken off the list, so that a caller can repeat a failed call.
        ApiKeyRow(key.digest).delete()

        def change(keys: dict[str, ApiKey]) -> None:
            # Another attempt at the call may have stored another key with this id.
            if key.key_id in keys and keys[key.key_id].digest == key.digest:
                del keys[key.key_id]

        self._change(key.account_id, change)

    def note_use(self, key: ApiKey, now: datetime) -> None:
        """Store the time of a key's use, at most once a day. A revoked key is ignored."""

        def change(keys: dict[str, ApiKey]) -> None:
            found = keys.get(key.key_id)
            if found is not None and found.digest == key.digest and found.is_use_due(now):
                keys[key.key_id] = replace(found, last_used_at=now)

        self._change(key.account_id, change)

    def delete_all(self, account_id: str) -> None:
        """Revoke all keys of an account."""
        for key in self.of_account(account_id):
            ApiKeyRow(key.digest).delete()
        ApiKeyRow(account_id).delete()

    def _change(
        self, account_id: str, change: Callable[[dict[str, ApiKey]], None]
    ) -> dict[str, ApiKey]:
        """Change the API keys of an account in place; return the keys before the change, by id."""
        before, _ = _ROWS.change(account_id, account_id, change)
        return before


def load_api_keys(account_id: str, row: ApiKeyRow | None) -> list[ApiKey]:
    """Return the keys in the row of an account."""
    return _ROWS.load(account_id, row)
