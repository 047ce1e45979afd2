"""Issues, verifies and revokes access and refresh tokens.

Spec: Authentication; contract section 2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chalicelib.config import Settings
from chalicelib.domain.accounts.account import ACTIVE, Account, ApiCaller
from chalicelib.domain.accounts.rates import TOKENS, RateLimits
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.common.limits import DEFAULT_REFRESHED_SECONDS, MAX_TOKEN_SECONDS
from chalicelib.errors import InvalidGrant, InvalidParameter, InvalidToken, TokenNotFound
from chalicelib.formats.tokens.assertion import (
    Assertion,
    InvalidAssertion,
    is_signed_by,
    read_assertion,
)
from chalicelib.formats.tokens.signed_token import (
    ACCESS,
    REFRESH,
    NotOurToken,
    TokenSigner,
    has_token_form,
)
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.secrets import SecretStore

# The scope that requests a refresh token.
OFFLINE = "offline"
_DIGITS = re.compile(r"[0-9]{1,10}")
# Verifies assertions of unknown accounts, so that the response time does not reveal whether an
# account exists. The private key was destroyed.
DUMMY_PUBLIC_KEY = """-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAkErxr3zQcWkweOAo0dzI
fnvh6ZgGEw/BzkrmKfr+C56oyIPZ3vuUuKMUrKVrv9SUdh5vw7VGCgfV7jggnizC
UhJR6oEinBL4BDeg5hCuTEZpiiV3tsGdaqSlwpZ998LCDXb7zxlJfcdY0Q82Chdq
P0wEQgRZScZj7HTkAVQrpeqrUUndna041kcDllA112RYNemQSVz/PrIOUKlADs+A
XQj+WmnGeBt2DZlXTCqLN7Ib0PwAEq1qsJO2jOi/JfLxc0qihOVlZxLm1MoKoYA2
riQBhe8qD8Soq1ieaNzevcXsD7mc05J5O81BE2aej7mUlOlPKxgB55rZ+imWjgPB
gQIDAQAB
-----END PUBLIC KEY-----
"""


@dataclass(frozen=True)
class Granted:
    """The tokens that a token request returns."""

    access_token: str
    """Bearer token for API calls."""
    expires_in: int
    """Lifetime of the access token in whole seconds."""
    refresh_token: str | None = None
    """Refresh token; None unless the scope requested one."""


class TokenService:
    """Issues tokens for assertions and refresh tokens, and finds the account of a token.

    An access token contains the id of an account key. An access token that was issued for a refresh
    token also contains the refresh token's id. A token is invalid as soon as its account, key or
    refresh token is invalid. Nothing is cached, so a revocation takes effect at once.
    """

    def __init__(
        self,
        accounts: AccountStore,
        refresh_tokens: RefreshTokenStore,
        secrets: SecretStore,
        clock: Clock,
        settings: Settings,
        rates: RateLimits,
    ) -> None:
        self._accounts = accounts
        self._refresh_tokens = refresh_tokens
        self._secrets = secrets
        self._clock = clock
        self._settings = settings
        self._rates = rates

    def grant_assertion(self, text: str, scope: str | None = None, domain: str = "") -> Granted:
        """Issue an access token for an assertion that was signed with a key of an account.

        Args:
            text: the signed assertion.
            scope: words separated by spaces; `offline` requests a refresh token, too.
            domain: host name by which the gateway was reached; "" if unknown.

        Raises:
            InvalidGrant: the assertion is not valid.
            RateExceeded: the account requested too many tokens in a short time.
        """
        try:
            assertion = read_assertion(text)
        except InvalidAssertion as error:
            raise InvalidGrant from error
        now = self._clock().timestamp()
        # A token never outlives the assertion that it was issued for.
        ends_at = int(min(assertion.expires_at, now + MAX_TOKEN_SECONDS))
        # Checked before the account is read, so that stale assertions cost no call of a table.
        if not assertion.is_current(now) or ends_at - now < 1:
            raise InvalidGrant
        if not assertion.is_meant_for(self._hosts_at(domain)):
            raise InvalidGrant
        account, key_id = self._signer_of(assertion)
        # After the signature, so that strangers cannot use up the rate of an account.
        self._rates.check(account, TOKENS)
        refresh_token = None
        if scope is not None and OFFLINE in scope.split():
            refresh_token = self._new_refresh_token(account, key_id)
        return Granted(
            self._access_token(account.account_id, key_id, ends_at),
            int(ends_at - now),
            refresh_token,
        )

    def grant_refresh(self, refresh_token: str, valid_for: object = None) -> Granted:
        """Issue an access token for a refresh token.

        `valid_for` is the lifetime of the access token in seconds: a whole number, or a string of
        digits.

        Raises:
            InvalidGrant: the refresh token is not valid.
            InvalidParameter: `valid_for` is not a whole number of seconds, or more than 30 days.
            RateExceeded: the account requested too many tokens in a short time.
        """
        claims = self._claims(REFRESH, refresh_token)
        owner = None if claims is None else self._owner(claims, claims["jti"])
        if claims is None or owner is None:
            raise InvalidGrant
        self._rates.check(owner.account, TOKENS)
        seconds = _valid_for(valid_for)
        self._refresh_tokens.touch(claims["sub"], claims["jti"], self._clock())
        # Rounded up, so that the caller gets at least the lifetime it asked for.
        ends_at = math.ceil(self._clock().timestamp()) + seconds
        token = self._access_token(claims["sub"], claims["key"], ends_at, claims["jti"])
        return Granted(token, seconds)

    def find_caller(
        self, bearer_token: str, name_model: Callable[[], str | None] = lambda: None
    ) -> ApiCaller:
        """Return the account of an access token, and the model that the call names.

        `name_model` returns the id of the model that the call names. It is called after the token
        was verified.

        Raises:
            InvalidToken: the token is unknown, expired, revoked or of the wrong kind.
        """
        claims = self._claims(ACCESS, bearer_token)
        if claims is None or claims["exp"] <= self._clock().timestamp():
            raise InvalidToken
        # One batch read loads account, refresh token and model. One read per row took as long as
        # the encoders.
        caller = self._owner(claims, claims.get("refresh"), name_model())
        if caller is None:
            raise InvalidToken
        return caller

    def revoke(self, account: Account, refresh_token: str) -> None:
        """Revoke a refresh token, and the access tokens that were issued with it.

        Raises:
            TokenNotFound: the token is not a valid refresh token of the account.
        """
        claims = self._claims(REFRESH, refresh_token)
        if claims is None or claims["sub"] != account.account_id:
            raise TokenNotFound
        if not self._refresh_tokens.delete(account.account_id, claims["jti"]):
            raise TokenNotFound

    @cached_property
    def _signer(self) -> TokenSigner:
        # Read at first use: a process that answers no call needs no signing key.
        return TokenSigner(self._secrets.signing_key(), self._settings.name)

    @cached_property
    def _hosts(self) -> frozenset[str]:
        # Host names are not case-sensitive.
        return frozenset(host.lower() for host in self._settings.audience_hosts)

    def _hosts_at(self, domain: str) -> frozenset[str]:
        # A template cannot pass the gateway's host name to its own functions: that would be
        # circular.
        return self._hosts | {domain.partition(":")[0].lower()} if domain else self._hosts

    def _signer_of(self, assertion: Assertion) -> tuple[Account, str]:
        """Return the account that signed an assertion, and the id of the account's key."""
        account = self._subject(assertion.subject)
        keys = () if account is None else account.keys
        now = self._clock()
        candidates = [(key.key_id, key.public_pem) for key in keys if key.is_valid(now)]
        for key_id, public_pem in candidates or [("", DUMMY_PUBLIC_KEY)]:
            if is_signed_by(assertion, public_pem) and account is not None and key_id:
                return account, key_id
        raise InvalidGrant

    def _subject(self, subject: str) -> Account | None:
        by_email = "@" in subject
        account = self._accounts.find_by_email(subject) if by_email else self._accounts.get(subject)
        return account if account is not None and account.status == ACTIVE else None

    def _claims(self, kind: str, token: str) -> dict[str, Any] | None:
        """Return a token's claims; None if the token has another kind or was not issued here."""
        # Checked first, because the signing key may have to be fetched.
        if not has_token_form(token):
            return None
        try:
            return self._signer.read(kind, token)
        except NotOurToken:
            return None

    def _owner(
        self, claims: dict[str, Any], refresh_id: str | None, model_id: str | None = None
    ) -> ApiCaller | None:
        """Return the caller that `claims` name; None if account, key or token is invalid now."""
        caller = self._accounts.find_caller(claims["sub"], refresh_id, model_id)
        if caller is None or caller.account.status != ACTIVE:
            return None
        is_alive = caller.account.key(claims["key"], self._clock()) is not None
        return caller if is_alive else None

    def _new_refresh_token(self, account: Account, key_id: str) -> str:
        token_id, now = new_string_id(), self._clock()
        self._refresh_tokens.create(account.account_id, token_id, key_id, now)
        claims = {"sub": account.account_id, "iat": int(now.timestamp()), "jti": token_id}
        return self._signer.sign(REFRESH, {**claims, "key": key_id})

    def _access_token(
        self, account_id: str, key_id: str, ends_at: int, refresh_id: str | None = None
    ) -> str:
        """Sign an access token that expires at `ends_at`, in seconds since 1970."""
        issued_at = int(self._clock().timestamp())
        claims = {"sub": account_id, "iat": issued_at, "exp": ends_at, "key": key_id}
        return self._signer.sign(
            ACCESS, claims if refresh_id is None else {**claims, "refresh": refresh_id}
        )


def _valid_for(value: object) -> int:
    """Check the requested lifetime of a token, and return it in seconds."""
    if value is None:
        return DEFAULT_REFRESHED_SECONDS
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    # True is an int in Python, but not a number in JSON.
    if isinstance(value, int) and value is not True and 1 <= value <= MAX_TOKEN_SECONDS:
        return value
    raise InvalidParameter(
        "valid_for",
        f"it must be a whole number of seconds from 1 to {MAX_TOKEN_SECONDS} (30 days); "
        f"leave it out for {DEFAULT_REFRESHED_SECONDS}.",
    )
