"""Creates, changes and closes accounts, for the administrator's commands."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.commands import administrator_command
from chalicelib.domain.accounts.account import ACTIVE, PLANS, Account, AccountKey
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.common.limits import MAX_TOKEN_SECONDS
from chalicelib.errors import Conflict, InvalidParameter, NotFound
from chalicelib.formats.tokens.rsa_key import (
    InvalidKey,
    checked_public_pem,
    new_private_pem,
    public_pem_of,
)
from chalicelib.stores.accounts.accounts import MAX_EMAIL_CHARACTERS, AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.fetching.page_images import PageImageStore

DEFAULT_PLAN = "STARTER"
DEFAULT_SOURCE = "HEROKU"
# How long the data of a closed account is stored, in days.
DEFAULT_KEEP_DAYS = 30
# Maximum of that time: ten years.
MAX_KEEP_DAYS = 3650
# Maximum of an individual limit of monthly calls that return examples.
MAX_EXAMPLE_CALLS = 10**9
# Length of a licence id. Contract section 4, Usage.
LICENSE_CHARACTERS = 10


@dataclass(frozen=True)
class KeyedAccount:
    """An account and its new private key, which the service does not store."""

    account: Account
    private_pem: str | None
    """New private key in PEM format; None if the caller passed a public key."""


class AccountService:
    """Creates, lists, changes and closes accounts.

    Methods that change an account raise InvalidParameter if a value is out of range, and NotFound
    if no account has the email address. Except for `close`, these methods also raise NotFound for a
    closed account.
    """

    def __init__(
        self,
        accounts: AccountStore,
        refresh_tokens: RefreshTokenStore,
        api_keys: ApiKeyStore,
        clock: Clock,
        page_images: PageImageStore | None = None,
    ) -> None:
        self._accounts = accounts
        self._refresh_tokens = refresh_tokens
        self._api_keys = api_keys
        self._clock = clock
        self._page_images = page_images

    def create(
        self,
        email: str,
        plan: str = DEFAULT_PLAN,
        source: str = DEFAULT_SOURCE,
        public_pem: str | None = None,
    ) -> KeyedAccount:
        """Create an account with the public key `public_pem`, or with a new key pair if it is None.

        Raises:
            InvalidParameter: the address, the plan or the key is not allowed.
            Conflict: the address already has an account.
        """
        address = _checked_email(email)
        _check_plan(plan, source)
        if self._accounts.find_by_email(address) is not None:
            raise _taken(address)
        key, private_pem = _new_key(public_pem)
        created = self._accounts.create(
            Account(
                account_id="",
                email=address,
                plan=plan,
                source=source,
                status=ACTIVE,
                keys=(key,),
                license_id=_new_license_id(),
                created_at=self._clock(),
            )
        )
        # Another call may have taken the address between the check and the write.
        if created is None:
            raise _taken(address)
        return KeyedAccount(created, private_pem)

    def list_all(self) -> tuple[Account, ...]:
        """List all accounts in the order of their ids, including closed accounts."""
        return self._accounts.list_all()

    def find(self, email: str) -> Account | None:
        """Return the account with an email address, even if it is closed; None if there is none."""
        return self._accounts.find_by_email(email)

    def change_plan(self, email: str, plan: str, source: str | None = None) -> Account:
        """Change the plan of an account. The new plan applies to the next call of the account.

        The source is HEROKU or SALESFORCE. If `source` is None, the account keeps its source,
        unless only the other source offers the plan.

        Raises:
            InvalidParameter: the plan does not exist, or the source does not offer it.
            NotFound: no active account has this address.
        """
        account = self._active(email)
        chosen = source or _source_of(plan, account.source)
        _check_plan(plan, chosen)
        return _existing(self._accounts.set_plan(account.account_id, plan, chosen), email)

    def set_example_calls(self, email: str, calls: int) -> Account:
        """Set the monthly limit of an account's calls that return examples."""
        _check_range("calls", calls, MAX_EXAMPLE_CALLS, "calls")
        account = self._active(email)
        return _existing(self._accounts.set_example_calls(account.account_id, calls), email)

    def reset_key(
        self, email: str, overlap_seconds: float = 0, public_pem: str | None = None
    ) -> KeyedAccount:
        """Replace the keys of an account; old keys and their tokens expire after `overlap_seconds`.

        The account gets the public key `public_pem`. If it is None, a key pair is created.

        Raises:
            InvalidParameter: the overlap is out of range, or the key is not allowed.
            NotFound: no active account has this address.
        """
        _check_range("overlap", overlap_seconds, MAX_TOKEN_SECONDS, "seconds")
        account = self._active(email)
        key, private_pem = _new_key(public_pem)
        now = self._clock()
        change = _replacing(key, now, now + timedelta(seconds=overlap_seconds))
        changed = _existing(self._accounts.change_keys(account.account_id, change), email)
        if not overlap_seconds:
            # The tokens are invalid already, but nothing else would ever delete their rows.
            self._refresh_tokens.delete_all(account.account_id)
        return KeyedAccount(changed, private_pem)

    def revoke_keys(self, email: str) -> None:
        """Revoke all API keys of an account.

        Raises:
            NotFound: no active account has this address.
        """
        self._api_keys.delete_all(self._active(email).account_id)

    def close(self, email: str, keep_days: float = DEFAULT_KEEP_DAYS) -> Account:
        """Close an account. Its tokens end at once, and its data is deleted after `keep_days`."""
        _check_range("keep", keep_days, MAX_KEEP_DAYS, "days")
        account = _existing(self._accounts.find_by_email(email), email)
        delete_after = self._clock() + timedelta(days=keep_days)
        closed = _existing(self._accounts.close(account.account_id, delete_after), email)
        self._refresh_tokens.delete_all(account.account_id)
        self._api_keys.delete_all(account.account_id)
        if self._page_images is not None:
            self._page_images.delete_all(account.account_id)
        return closed

    def _active(self, email: str) -> Account:
        account = self._accounts.find_by_email(email)
        is_active = account is not None and account.status == ACTIVE
        return _existing(account if is_active else None, email)


def _existing(account: Account | None, email: str) -> Account:
    if account is None:
        raise NotFound(
            f"There is no active account {email}. "
            f"See the accounts with: {administrator_command('accounts')} list"
        )
    return account


def _taken(email: str) -> Conflict:
    return Conflict(
        f"The address {email} has an account. Use another address, or give the account a new key "
        f"with: {administrator_command('accounts')} reset-key {email} --key-file FILE"
    )


def _checked_email(email: str) -> str:
    """Check an email address, and return it in lower case."""
    name, _, host = email.partition("@")
    parts_are_good = name and host and "@" not in host
    is_printable = email.isprintable() and " " not in email
    if not (parts_are_good and is_printable) or len(email) > MAX_EMAIL_CHARACTERS:
        raise InvalidParameter(
            "email",
            f"{email[:80]!r} is not an email address; it looks like name@example.com and has at "
            f"most {MAX_EMAIL_CHARACTERS} characters.",
        )
    # Accounts are looked up by this, so an address finds its account in any case.
    return email.lower()


def _check_plan(plan: str, source: str) -> None:
    if plan not in PLANS.get(source, {}):
        choices = "; ".join(f"{name}: {', '.join(plans)}" for name, plans in PLANS.items())
        raise InvalidParameter("plan", f"{source} has no plan {plan}. Plans: {choices}.")


def _check_range(name: str, value: float, maximum: int, unit: str) -> None:
    if not 0 <= value <= maximum:
        raise InvalidParameter(name, f"it must be 0 to {maximum} {unit}, not {value}.")


def _source_of(plan: str, source: str) -> str:
    """Return `source` (HEROKU or SALESFORCE), or another source if `source` lacks the plan."""
    having = [name for name, plans in PLANS.items() if plan in plans]
    return source if source in having or not having else having[0]


def _new_key(public_pem: str | None) -> tuple[AccountKey, str | None]:
    """Return an account key, and its private key in PEM (None if `public_pem` is given)."""
    private_pem = new_private_pem() if public_pem is None else None
    try:
        checked = (
            public_pem_of(private_pem) if private_pem else checked_public_pem(public_pem or "")
        )
    except InvalidKey as error:
        raise InvalidParameter("public key", f"{error}.") from error
    return AccountKey(new_string_id(), checked), private_pem


def _replacing(
    key: AccountKey, now: datetime, old_until: datetime
) -> Callable[[tuple[AccountKey, ...]], tuple[AccountKey, ...]]:
    """Return a function that adds `key` to the keys of an account.

    The function also makes all other keys expire at `old_until`, unless they expire earlier.
    """

    def change(keys: tuple[AccountKey, ...]) -> tuple[AccountKey, ...]:
        # The store may call this again on its own result after a conflict, so it must be
        # idempotent.
        ending = (
            replace(old, expires_at=min(old.expires_at or old_until, old_until))
            for old in keys
            if old.key_id != key.key_id
        )
        return (*(old for old in ending if old.is_valid(now)), key)

    return change


def _new_license_id() -> str:
    return "".join(secrets.choice(string.ascii_letters) for _ in range(LICENSE_CHARACTERS))
