"""Two accounts, their keys, and the token service, for tests of tokens."""

from __future__ import annotations

import base64
import json
from functools import cache

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from chalicelib.domain.accounts.rates import RateLimits
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.services.accounts.tokens import TokenService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.rates import RateStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.secrets import SecretStore
from tests.administration import public_half

EMAIL = "ann@example.com"
AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"
DAY = 86400


@cache
def load_key(private_pem: str):
    """Load a private key; slow, because loading verifies it."""
    return load_pem_private_key(private_pem.encode(), None)


class World:
    """An account, its keys, and the services on it."""

    def __init__(self, clients, clock, settings, private_pem, other_private_pem):
        self.clock = clock
        self.settings = settings
        self.private_pem = private_pem
        self.other_private_pem = other_private_pem
        self.secrets = SecretStore(clients, settings)
        store, refresh_tokens = AccountStore(clients), RefreshTokenStore(clients)
        self.accounts = AccountService(store, refresh_tokens, ApiKeyStore(clients), clock)
        rates = RateLimits(RateStore(clients), clock)
        self.tokens = TokenService(store, refresh_tokens, self.secrets, clock, settings, rates)
        public_pem = public_half(private_pem)
        self.account = self.accounts.create(EMAIL, public_pem=public_pem).account
        other_pem = public_half(other_private_pem)
        self.other = self.accounts.create("bob@example.com", public_pem=other_pem).account

    def claims(self, **changes):
        """Return valid claims with changes; None removes a claim."""
        claims = {"sub": EMAIL, "aud": AUDIENCE, "exp": self.now + 900, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def sign(self, private_pem=None, headers=None, **changes):
        """Sign an assertion."""
        content = json.dumps(self.claims(**changes)).encode()
        head = json.dumps({"alg": "RS256", **(headers or {})}).encode()
        return self.sign_raw(head, content, private_pem)

    def sign_raw(self, head: bytes, content: bytes, private_pem=None):
        """Sign arbitrary bytes as header and claims."""
        signing_input = f"{encode(head)}.{encode(content)}"
        key = load_key(private_pem or self.private_pem)
        signature = key.sign(signing_input.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signing_input}.{encode(signature)}"

    def grant(self, **changes):
        """Obtain tokens with a valid assertion, with changes."""
        return self.tokens.grant_assertion(self.sign(**changes))

    def offline(self):
        """Obtain an access and a refresh token."""
        return self.tokens.grant_assertion(self.sign(), "offline")

    @property
    def now(self):
        """Present time, seconds since 1970."""
        return int(self.clock.now.timestamp())


def encode(raw: bytes) -> str:
    """Encode as Base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
