"""What an administrator does with accounts: create, change, close."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

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
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore

DEFAULT_PLAN = "STARTER"
DEFAULT_SOURCE = "HEROKU"
DEFAULT_KEEP_DAYS = 30
"""How long a closed account's data is kept."""
MAX_KEEP_DAYS = 3650
"""Longest time that a closed account's data is kept."""
MAX_EXAMPLE_CALLS = 10**9
"""Largest own limit of monthly calls that return examples."""
LICENSE_CHARACTERS = 10
"""Length of a licence id. Contract section 4, Usage."""


@dataclass(frozen=True)
class KeyedAccount:
    """An account and the private half of its new key, which is kept nowhere else."""

    account: Account
    """The account with its new key."""
    private_pem: str | None
    """The private key, once; None when the caller brought a public key."""


class AccountService:
    """Creates, lists, changes and closes accounts; every refusal names its remedy."""

    def __init__(
        self, accounts: AccountStore, refresh_tokens: RefreshTokenStore, clock: Clock
    ) -> None:
        self._accounts = accounts
        self._refresh_tokens = refresh_tokens
        self._clock = clock

    def create(
        self,
        email: str,
        plan: str = DEFAULT_PLAN,
        source: str = DEFAULT_SOURCE,
        public_pem: str | None = None,
    ) -> KeyedAccount:
        """Create an account with a new key, or with the caller's own public key.

        Raises:
            InvalidParameter: the address, the plan or the key is not acceptable.
            Conflict: the address has an account.
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
        if created is None:
            raise _taken(address)
        return KeyedAccount(created, private_pem)

    def list_all(self) -> tuple[Account, ...]:
        """List every account by id, closed ones too."""
        return self._accounts.list_all()

    def find(self, email: str) -> Account | None:
        """Find an account by its address, closed or not."""
        return self._accounts.find_by_email(email)

    def change_plan(self, email: str, plan: str, source: str | None = None) -> Account:
        """Give an account another plan, from the next call on.

        Args:
            email: the account's address.
            plan: name of the plan.
            source: plan family; without it the account stays in its own where that has the
                plan, else it goes to the one that does.

        Raises:
            InvalidParameter: the plan does not exist.
            NotFound: no active account has this address.
        """
        account = self._active(email)
        chosen = source or _source_of(plan, account.source)
        _check_plan(plan, chosen)
        return _existing(self._accounts.set_plan(account.account_id, plan, chosen), email)

    def set_example_calls(self, email: str, calls: int) -> Account:
        """Give an account its own limit of monthly calls that return examples.

        Raises:
            InvalidParameter: the limit is out of range.
            NotFound: no active account has this address.
        """
        _check_range("calls", calls, MAX_EXAMPLE_CALLS, "calls")
        account = self._active(email)
        return _existing(self._accounts.set_example_calls(account.account_id, calls), email)

    def reset_key(
        self, email: str, overlap_seconds: float = 0, public_pem: str | None = None
    ) -> KeyedAccount:
        """Give an account a new key; the old ones, and their tokens, die at once or later.

        Args:
            email: the account's address.
            overlap_seconds: how long the old keys live on, in seconds.
            public_pem: the caller's own public key, in place of a new pair.

        Raises:
            InvalidParameter: the overlap is out of range or the key not acceptable.
            NotFound: no active account has this address.
        """
        _check_range("overlap", overlap_seconds, MAX_TOKEN_SECONDS, "seconds")
        account = self._active(email)
        key, private_pem = _new_key(public_pem)
        now = self._clock()
        change = _replacing(key, now, now + timedelta(seconds=overlap_seconds))
        changed = _existing(self._accounts.change_keys(account.account_id, change), email)
        if not overlap_seconds:
            # They are dead without this; their rows would stay for ever.
            self._refresh_tokens.delete_all(account.account_id)
        return KeyedAccount(changed, private_pem)

    def close(self, email: str, keep_days: float = DEFAULT_KEEP_DAYS) -> Account:
        """Close an account: its tokens die at once, its data is deleted later.

        Raises:
            InvalidParameter: the time to keep the data is out of range.
            NotFound: no account has this address.
        """
        _check_range("keep", keep_days, MAX_KEEP_DAYS, "days")
        account = _existing(self._accounts.find_by_email(email), email)
        delete_after = self._clock() + timedelta(days=keep_days)
        closed = _existing(self._accounts.close(account.account_id, delete_after), email)
        self._refresh_tokens.delete_all(account.account_id)
        return closed

    def _active(self, email: str) -> Account:
        """Find an active account by its address.

        Raises:
            NotFound: there is none.
        """
        account = self._accounts.find_by_email(email)
        is_active = account is not None and account.status == ACTIVE
        return _existing(account if is_active else None, email)


def _existing(account: Account | None, email: str) -> Account:
    """Insist that there is an account.

    Raises:
        NotFound: there is none.
    """
    if account is None:
        raise NotFound(
            f"There is no active account {email}. "
            "See the accounts with: python -m infra.accounts list"
        )
    return account


def _taken(email: str) -> Conflict:
    """Make the error of an address that has an account."""
    return Conflict(
        f"The address {email} has an account. Use another address, or give the account a new key "
        f"with: python -m infra.accounts reset-key {email} --key-file FILE"
    )


def _checked_email(email: str) -> str:
    """Check an address and write it in lower case.

    Raises:
        InvalidParameter: it is none.
    """
    name, _, host = email.partition("@")
    parts_are_good = name and host and "@" not in host
    is_printable = email.isprintable() and " " not in email
    if not (parts_are_good and is_printable) or len(email) > MAX_EMAIL_CHARACTERS:
        raise InvalidParameter(
            "email",
            f"{email[:80]!r} is no e-mail address; it looks like name@example.com and has at "
            f"most {MAX_EMAIL_CHARACTERS} characters.",
        )
    return email.lower()


def _check_plan(plan: str, source: str) -> None:
    """Check that the source has the plan.

    Raises:
        InvalidParameter: it has not.
    """
    if plan not in PLANS.get(source, {}):
        choices = "; ".join(f"{name}: {', '.join(plans)}" for name, plans in PLANS.items())
        raise InvalidParameter("plan", f"{source} has no plan {plan}. There are {choices}.")


def _check_range(name: str, value: float, maximum: int, unit: str) -> None:
    """Check that a number lies between nothing and a maximum.

    Raises:
        InvalidParameter: it does not.
    """
    if not 0 <= value <= maximum:
        raise InvalidParameter(name, f"it must be 0 to {maximum} {unit}, not {value}.")


def _source_of(plan: str, present: str) -> str:
    """Choose the source of a plan, the present one where it has the plan."""
    having = [source for source, plans in PLANS.items() if plan in plans]
    return present if present in having or not having else having[0]


def _new_key(public_pem: str | None) -> tuple[AccountKey, str | None]:
    """Make a key pair, or take the caller's public key.

    Raises:
        InvalidParameter: the caller's key is not acceptable.
    """
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
    """Make the change that puts a new key behind the old ones that live on."""

    def change(present: tuple[AccountKey, ...]) -> tuple[AccountKey, ...]:
        """Shorten the old keys' lives; may be applied again to its own result."""
        ending = (
            replace(old, expires_at=min(old.expires_at or old_until, old_until))
            for old in present
            if old.key_id != key.key_id
        )
        return (*(old for old in ending if old.is_valid(now)), key)

    return change


def _new_license_id() -> str:
    """Draw a licence id."""
    return "".join(secrets.choice(string.ascii_letters) for _ in range(LICENSE_CHARACTERS))
