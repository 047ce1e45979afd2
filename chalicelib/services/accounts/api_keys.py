"""Creates, lists and revokes API keys, and finds their accounts. See beyond.md, section 11."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock

from chalicelib import log
from chalicelib.domain.accounts.account import ACTIVE, Account, ApiCaller
from chalicelib.domain.accounts.api_key import (
    ALL,
    MAX_KEY_NAME,
    PREDICT,
    SECRET_BYTES,
    SHOWN_CHARACTERS,
    ApiKey,
    ApiKeyNotFound,
    digest_of,
    is_well_formed,
    new_api_secret,
)
from chalicelib.domain.common.clock import Clock, date_text
from chalicelib.domain.common.repeats import object_id
from chalicelib.errors import InvalidParameter, InvalidToken, StorageUnavailable
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore

# How long a process caches which account a key belongs to.
REMEMBERED_SECONDS = 60
_MOST_REMEMBERED = 4096


class ApiKeyService:
    """Manages API keys, and finds the account that an API key belongs to."""

    def __init__(self, accounts: AccountStore, keys: ApiKeyStore, clock: Clock) -> None:
        self._accounts = accounts
        self._keys = keys
        self._clock = clock
        self._owners: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._lock = Lock()

    def find_caller(
        self, secret: str, name_model: Callable[[], str | None] = lambda: None
    ) -> ApiCaller:
        """Return the account of the API key `secret`, and the model that the call names.

        `name_model` returns the id of the model that the call names. It is called after the key was
        recognised.

        Raises:
            InvalidToken: the key is malformed, unknown, revoked or expired.
        """
        # Checked before any row is read, so that malformed keys cost nothing.
        if not is_well_formed(secret):
            raise InvalidToken
        digest, now = digest_of(secret), self._clock()
        account_id = self._owner(digest, now.timestamp())
        # Only the account's id is cached. The key is read together with the account, so that a
        # revocation takes effect at once in every process.
        caller = account_id and self._accounts.find_caller(
            account_id, model_id=name_model(), digest=digest
        )
        if not caller or caller.key is None or caller.account.status != ACTIVE:
            self._clear(digest)
            raise InvalidToken
        if not caller.key.is_valid(now):
            raise InvalidToken
        self._note_use(caller.key, now)
        return caller

    def create(
        self, account: Account, name: str, scope: str = ALL, expires_at: str | None = None
    ) -> tuple[ApiKey, str]:
        """Create an API key.

        Args:
            account: the owner.
            name: 1 to 64 characters.
            scope: `all` or `predict`.
            expires_at: date and time in ISO 8601, UTC unless it has an offset.

        Returns:
            The key as it is stored, and its secret, which is not stored.

        Raises:
            InvalidParameter: the name, scope or date is not allowed.
            TooManyApiKeys: the account has the maximum number of keys.
        """
        now = self._clock()
        secret = new_api_secret(os.urandom(SECRET_BYTES))
        key = ApiKey(
            account_id=account.account_id,
            key_id=object_id(),
            name=_checked_name(name),
            scope=_checked_scope(scope),
            prefix=secret[:SHOWN_CHARACTERS],
            digest=digest_of(secret),
            created_at=now,
            expires_at=None if expires_at is None else _checked_end(expires_at, now),
        )
        self._keys.add(key)
        return key, secret

    def of_account(self, account: Account) -> tuple[ApiKey, ...]:
        """Return the keys of an account, the oldest first."""
        found = self._keys.of_account(account.account_id)
        return tuple(sorted(found, key=lambda key: (key.created_at, key.key_id)))

    def get(self, account: Account, key_id: str) -> ApiKey:
        """Return a key of an account; raise ApiKeyNotFound if the account has no such key."""
        for key in self._keys.of_account(account.account_id):
            if key.key_id == key_id:
                return key
        raise ApiKeyNotFound(key_id)

    def revoke(self, key: ApiKey) -> None:
        """Revoke an API key. The next call with this key is refused."""
        try:
            self._keys.remove(key)
        finally:
            # Also after a failure, which may have deleted the row that leads to the account.
            self._clear(key.digest)

    def _owner(self, digest: str, now: float) -> str | None:
        with self._lock:
            account_id, since = self._owners.get(digest, ("", 0.0))
        # A clock that was set back must not make an entry last longer.
        if account_id and 0 <= now - since < REMEMBERED_SECONDS:
            return account_id
        found = self._keys.find_account(digest)
        if found is not None:
            with self._lock:
                self._owners[digest] = (found, now)
                self._owners.move_to_end(digest)
                if len(self._owners) > _MOST_REMEMBERED:
                    self._owners.popitem(last=False)
        return found

    def _clear(self, digest: str) -> None:
        with self._lock:
            self._owners.pop(digest, None)

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        if not key.is_use_due(now):
            return
        try:
            self._keys.note_use(key, now)
        except StorageUnavailable as error:
            # The call itself can succeed, and the next one notes the use.
            log.warning("key_use_not_noted", key=key.key_id, cause=type(error.__cause__).__name__)


def _checked_name(name: str) -> str:
    if not 1 <= len(name) <= MAX_KEY_NAME:
        raise InvalidParameter(
            "name", f"it must have 1 to {MAX_KEY_NAME} characters, got {len(name)}."
        )
    return name


def _checked_scope(scope: str) -> str:
    if scope not in (ALL, PREDICT):
        raise InvalidParameter("scope", f"'{scope[:40]}' is not one of {ALL}, {PREDICT}.")
    return scope


def _checked_end(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidParameter(
            "expiresAt",
            f"{text[:40]!r} is not a date and time in ISO 8601, such as 2030-01-31T00:00:00Z.",
        ) from error
    if moment <= now:
        raise InvalidParameter(
            "expiresAt", f"{text[:40]} is in the past; it is {date_text(now)} now."
        )
    return moment
