"""Creates and verifies access tokens and refresh tokens, which are JWTs signed with HS256.

Only HS256 is accepted. The header contains the kind of token, so that an access token is never
accepted as a refresh token. See RFC 8725, sections 3.1, 3.11 and 3.12.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

ACCESS = "at+jwt"
REFRESH = "refresh+jwt"
# The service's tokens are shorter; a longer one is refused without parsing. A header this short
# cannot be nested so deeply that the JSON parsers of different interpreters disagree.
MAX_CHARACTERS = 2_000
_ALGORITHM = "HS256"
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
# Number of verified tokens in a process's cache; they use at most a megabyte.
_REMEMBERED = 512


class NotOurToken(ValueError):
    """A text is not a token of the expected kind, or was not signed by this service."""


def has_token_form(text: str) -> bool:
    """Return whether a text has the three parts of a token, and is not too long for a token."""
    return len(text) <= MAX_CHARACTERS and _COMPACT.fullmatch(text) is not None


class TokenSigner:
    """Signs and verifies the tokens of this service."""

    def __init__(self, key: bytes, issuer: str) -> None:
        self._key = key
        self._issuer = issuer
        # A caller sends the same token with each call, and its signature remains valid.
        self._verified = lru_cache(_REMEMBERED)(self._verify)

    def sign(self, kind: str, claims: dict[str, Any]) -> str:
        """Return a signed token.

        Args:
            kind: ACCESS or REFRESH.
            claims: Claims in addition to issuer and audience.
        """
        # Imported late: it loads cryptography, which takes longer than the rest of the start.
        import jwt

        named = {"iss": self._issuer, "aud": self._issuer, **claims}
        return jwt.encode(named, self._key, _ALGORITHM, headers={"typ": kind})

    def read(self, kind: str, token: str) -> dict[str, Any]:
        """Verify a token and return its claims. The caller must check the expiry.

        Raises:
            NotOurToken: the token is of another kind or service, or is not signed with the key.
        """
        if not has_token_form(token):
            raise NotOurToken
        return dict(self._verified(kind, token))

    def _verify(self, kind: str, token: str) -> dict[str, Any]:
        # Errors are not cached, so that invalid tokens cannot evict valid ones.
        import jwt

        try:
            content = jwt.decode_complete(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                issuer=self._issuer,
                audience=self._issuer,
                # The caller compares the times with its own clock.
                options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as problem:
            raise NotOurToken from problem
        if content["header"].get("typ") != kind:
            raise NotOurToken
        claims: dict[str, Any] = content["payload"]
        return claims
