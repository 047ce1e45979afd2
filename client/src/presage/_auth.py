"""Tokens: a signed assertion is exchanged for one, which is renewed before it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presage.errors import ConfigurationError

TOKEN_PATH = "/v2/oauth2/token"  # noqa: S105 - a path
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
LIFETIME = 3600
"""Seconds that a token is asked for."""
MARGIN = 60.0
"""A token is renewed so many seconds before it ends."""


def read_key(key: str | Path) -> str:
    """Return a private key in PEM form, from its text or its file.

    Raises:
        ConfigurationError: there is none.
    """
    if isinstance(key, str) and key.lstrip().startswith("-----BEGIN"):
        return key
    try:
        text = Path(key).expanduser().read_text("ascii")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"The key file {key} cannot be read: {_cause(error)}.") from error
    if "PRIVATE KEY-----" not in text:
        raise ConfigurationError(f"{key} holds no private key in PEM form.")
    return text


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is no text"


@dataclass
class Credentials:
    """Who calls, and the token that is in use."""

    address: str
    """Of the service, without a slash at its end."""
    email: str = ""
    """Of the account."""
    key: str = ""
    """Private key in PEM form."""
    token: str | None = None
    """Access token in use; None until one is there."""
    valid_until: float = float("inf")
    """When it ends, by `now`; a token that was given from outside is never renewed."""
    now: Callable[[], float] = time.monotonic
    """Clock of `valid_until`, in seconds."""
    _fingerprint: str = ""

    @property
    def can_renew(self) -> bool:
        """Tell whether there is a key to sign with."""
        return bool(self.key)

    @property
    def is_fresh(self) -> bool:
        """Tell whether the token lives long enough to be used."""
        return self.token is not None and self.now() < self.valid_until - MARGIN

    def grant(self) -> dict[str, str]:
        """Return the fields of the call that gives a token.

        Raises:
            ConfigurationError: the key is no RSA key, or there is neither key nor token.
        """
        if not self.key:
            raise ConfigurationError(
                "Neither a token nor a key is known: run `presage login`, or set PRESAGE_EMAIL "
                "and PRESAGE_KEY_FILE."
            )
        import jwt  # loads cryptography, which only this needs

        claims = {
            "sub": self.email,
            "aud": self.address + TOKEN_PATH,
            "exp": int(time.time()) + LIFETIME,
        }
        try:
            assertion = jwt.encode(claims, self.key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError) as error:
            cause = str(error).rstrip(".")
            raise ConfigurationError(f"The key is no RSA key that signs: {cause}.") from error
        return {"grant_type": GRANT_TYPE, "assertion": assertion}

    def accept(self, answer: dict[str, Any]) -> None:
        """Take the token of an answer."""
        self.token = str(answer["access_token"])
        self.valid_until = self.now() + float(answer["expires_in"])
