"""Reads the signed assertions of clients: JWTs with RS256, parsed strictly. See contract section 2.

Parsing and verifying are two steps, because the subject in the assertion decides which key verifies
it. The result of `read_assertion` must not be trusted until `is_signed_by` has returned True.
Headers that name a key or a URL (`kid`, `jwk`, `jku`, `x5u`) are ignored.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from chalicelib.formats.texts.json_limits import is_too_deep

ALGORITHM = "RS256"
# Length limit of an assertion.
MAX_CHARACTERS = 16_000
# How far a client's clock can be ahead of the service's.
LEEWAY_SECONDS = 60
TOKEN_PATHS = ("/v1/oauth2/token", "/v2/oauth2/token")
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class InvalidAssertion(ValueError):
    """A text is not an assertion in the expected form. The signature was not checked."""


@dataclass(frozen=True)
class Assertion:
    """The claims of an assertion."""

    text: str
    """The assertion as received."""
    subject: str
    """Email address or account id."""
    audiences: tuple[str, ...]
    """Host names and URLs for which the assertion was issued."""
    expires_at: float
    """When the assertion expires, in seconds since 1970."""
    not_before: float
    """When the assertion becomes valid, in seconds since 1970: the later of `iat` and `nbf`."""

    def is_current(self, now: float) -> bool:
        """Return whether the assertion is valid at the time `now`, in seconds since 1970."""
        return self.not_before <= now + LEEWAY_SECONDS and now < self.expires_at

    def is_meant_for(self, hosts: Collection[str]) -> bool:
        """Return whether an audience of the assertion is a token endpoint at one of `hosts`."""
        return any(_is_token_endpoint(audience, hosts) for audience in self.audiences)


def read_assertion(text: str) -> Assertion:
    """Parse an assertion without verifying its signature.

    Raises:
        InvalidAssertion: the assertion is malformed, has another algorithm, or lacks a claim.
    """
    if len(text) > MAX_CHARACTERS or not _COMPACT.fullmatch(text):
        raise InvalidAssertion
    header, body, _ = text.split(".")
    head = _object(header)
    # If the sender could choose the algorithm, `none` or HS256 with the public key would pass as
    # signed.
    if head.get("alg") != ALGORITHM or "crit" in head:
        raise InvalidAssertion
    claims = _object(body)
    return Assertion(
        text=text,
        subject=_text(claims.get("sub")),
        audiences=_audiences(claims.get("aud")),
        expires_at=_moment(claims.get("exp")),
        not_before=max(_moment(claims.get(name, 0)) for name in ("iat", "nbf")),
    )


def is_signed_by(assertion: Assertion, public_pem: str) -> bool:
    """Return whether an assertion was signed with the private key that belongs to `public_pem`."""
    import jwt  # Imported late: it loads cryptography, which no other request needs.

    try:
        jwt.PyJWS(algorithms=[ALGORITHM]).decode(assertion.text, public_pem, algorithms=[ALGORITHM])
    except jwt.PyJWTError:
        return False
    return True


def _object(segment: str) -> dict[str, Any]:
    """Decode one part of a JWT as a JSON object without repeated members."""
    try:
        text = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)).decode()
        if is_too_deep(text):
            raise InvalidAssertion
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except ValueError as error:
        raise InvalidAssertion from error
    if not isinstance(value, dict):
        raise InvalidAssertion
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Parsers differ in which one of repeated members they use, so they are refused.
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidAssertion
    return value


def _refuse(constant: str) -> None:
    raise InvalidAssertion(constant)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidAssertion
    return value


def _audiences(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(_text(audience) for audience in values)


def _moment(value: object) -> float:
    """Return a time in seconds since 1970; raise an error if it is negative or not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAssertion
    if value < 0 or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidAssertion
    return value


def _is_token_endpoint(url: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    path = parts.path.removesuffix("/")
    return parts.scheme in ("http", "https") and host in hosts and path.endswith(TOKEN_PATHS)
