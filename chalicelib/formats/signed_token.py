"""The service's own tokens: JWTs signed with HS256, written and read here and nowhere else.

The header of each kind is one fixed text, so reading compares it instead of parsing it: no
token chooses its algorithm, and none passes for the other kind. RFC 8725 sections 3.1 and 3.11.
See chalicelib/services/tokens.py.
"""

from __future__ import annotations

import base64
import hmac
import json
from typing import Any

ACCESS = "at+jwt"
REFRESH = "refresh+jwt"
MAX_CHARACTERS = 2_000
"""No token of ours is this long; a longer one is refused unread."""


class NotOurToken(ValueError):
    """The text is no token of this kind that this service signed."""


class TokenSigner:
    """Signs and reads the tokens of one service."""

    def __init__(self, key: bytes, issuer: str) -> None:
        self._key = key
        self._issuer = issuer

    def sign(self, kind: str, claims: dict[str, Any]) -> str:
        """Make a token.

        Args:
            kind: ACCESS or REFRESH.
            claims: members beside issuer and audience.
        """
        named = {"iss": self._issuer, "aud": self._issuer, **claims}
        content = f"{_header(kind)}.{_encode(_json(named))}"
        return f"{content}.{self._signature(content)}"

    def read(self, kind: str, token: str) -> dict[str, Any]:
        """Verify a token and give its claims; whether it is expired is the caller's question.

        Raises:
            NotOurToken: it is of another kind, of another service, or not signed with the key.
        """
        if len(token) > MAX_CHARACTERS or not token.isascii():
            raise NotOurToken
        content, _, signature = token.rpartition(".")
        header, _, body = content.partition(".")
        # The texts are compared, not the bytes they stand for: no token has a second spelling.
        if header != _header(kind) or not hmac.compare_digest(signature, self._signature(content)):
            raise NotOurToken
        claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        if claims["iss"] != self._issuer or claims["aud"] != self._issuer:
            raise NotOurToken
        return claims

    def _signature(self, content: str) -> str:
        """Sign header and claims."""
        return _encode(hmac.digest(self._key, content.encode("ascii"), "sha256"))


def _header(kind: str) -> str:
    """Write the header of a kind."""
    return _encode(_json({"alg": "HS256", "typ": kind}))


def _json(value: dict[str, Any]) -> bytes:
    """Write JSON without white space."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _encode(raw: bytes) -> str:
    """Encode as Base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
