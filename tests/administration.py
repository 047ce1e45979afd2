"""Accounts of a running stack, and assertions signed with a key that is read only once."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, system_clock
from chalicelib.formats.tokens.rsa_key import public_pem_of
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws import tables
from chalicelib.stores.aws.clients import Clients

# Reading a private key checks its primes, which takes 40 ms of processor time.
_read_key = lru_cache(maxsize=64)(load_pem_private_key)


@cache
def public_half(private_pem: str) -> str:
    """Return the public half of a private key, which tests share."""
    return public_pem_of(private_pem)


class Administration:
    """Manages the accounts of one stack; its clients are made once.

    Args:
        settings: of the stack.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients = Clients(settings)

    @property
    def accounts(self) -> AccountService:
        """The service of accounts, on the tables of this stack."""
        clients = self._clients
        # Other clients of this process may have bound the table classes to other stacks since.
        tables.bind(self._settings, clients.dynamodb, clients.dynamodb_once)
        return account_service(clients)


def account_service(clients: Clients, clock: Clock = system_clock) -> AccountService:
    """Return the service of accounts on some clients."""
    stores = AccountStore(clients), RefreshTokenStore(clients), ApiKeyStore(clients)
    return AccountService(*stores, clock)


def sign(claims: dict[str, Any], private_pem: str, **options: Any) -> str:
    """Return a token with claims that is signed with a private key.

    Args:
        claims: of the token.
        private_pem: the key as PEM.
        options: of `jwt.encode`.
    """
    return jwt.encode(claims, _read_key(private_pem.encode(), None), "RS256", **options)
