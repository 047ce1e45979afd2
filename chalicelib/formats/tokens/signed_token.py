"""The service's own tokens: JWTs signed with HS256, written and read here and nowhere else.

The algorithm is pinned, and the header names the kind, so that no token passes for the other kind.
RFC 8725 sections 3.1, 3.11 and 3.12.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

ACCESS = "at+jwt"
REFRESH = "refresh+jwt"
MAX_CHARACTERS = 2_000
"""No token of ours is this long; a longer one is refused unread. So short a header cannot be
nested so deeply that one interpreter reads it and another does not: neither gets as far as to
trust it."""
_ALGORITHM = "HS256"
_REMEMBERED = 512
"""Tokens of callers that a process has verified; at most a megabyte of them."""


class NotOurToken(ValueError):
    """The text is no token of this kind that this service signed."""


class TokenSigner:
    """Signs and reads the tokens of one service."""

    def __init__(self, key: bytes, issuer: str) -> None:
        self._key = key
        self._issuer = issuer
        # A caller sends one token with each call, and its signature stays as good as it was.
        self._verified = lru_cache(_REMEMBERED)(self._verify)

    def sign(self, kind: str, claims: dict[str, Any]) -> str:
        """Make a token.

        Args:
            kind: ACCESS or REFRESH.
            claims: members beside issuer and audience.
        """
        import jwt  # loads cryptography, which takes longer than the rest of the start

        named = {"iss": self._issuer, "aud": self._issuer, **claims}
        return jwt.encode(named, self._key, _ALGORITHM, headers={"typ": kind})

    def read(self, kind: str, token: str) -> dict[str, Any]:
        """Verify a token and give its claims; whether it is expired is the caller's question.

        Raises:
            NotOurToken: it is of another kind, of another service, or not signed with the key.
        """
        if len(token) > MAX_CHARACTERS or not token.isascii():
            raise NotOurToken
        return dict(self._verified(kind, token))

    def _verify(self, kind: str, token: str) -> dict[str, Any]:
        """Do what `read` says of a token of a fitting length; errors are not remembered."""
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
