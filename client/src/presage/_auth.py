"""Manages access tokens: requests them with a signed assertion, renews them before they expire."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from presage._api_keys import PREFIX
from presage.errors import ConfigurationError

TOKEN_PATH = "/v2/oauth2/token"  # noqa: S105 - a path
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
# Requested lifetime of a token, in seconds.
LIFETIME = 3600
# A token is renewed this many seconds before it expires, so that it does not expire on the way.
MARGIN = 60.0


def read_key(key: str | Path) -> str:
    """Return a private key in PEM format, given the PEM text or the path of its file.

    Raises:
        ConfigurationError: no private key can be read from the text or the file.
    """
    if isinstance(key, str) and key.lstrip().startswith("-----BEGIN"):
        return key
    try:
        text = Path(key).expanduser().read_text("ascii")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"The key file {key} cannot be read: {_cause(error)}.") from error
    if "PRIVATE KEY-----" not in text:
        raise ConfigurationError(f"{key} contains no private key in PEM format.")
    return text


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not a text file"


@dataclass
class Credentials:
    """The account, and the access token or API key that is sent with each call."""

    address: str
    """Address of the service, without a trailing slash."""
    email: str = ""
    """Email address of the account."""
    key: str = field(default="", repr=False)
    """Private key in PEM format."""
    token: str | None = field(default=None, repr=False)
    """Current access token, or the API key, if any."""
    valid_until: float = float("inf")
    """When the token expires, on the clock `now`; infinite for a token that the caller passed."""
    now: Callable[[], float] = time.monotonic
    """Clock of `valid_until`, in seconds."""
    _fingerprint: str = ""

    @property
    def can_renew(self) -> bool:
        """Return whether there is a private key with which a new token can be requested."""
        return bool(self.key)

    @property
    def is_api_key(self) -> bool:
        """Return whether calls are made with an API key."""
        return self.token is not None and self.token.startswith(PREFIX)

    @property
    def is_fresh(self) -> bool:
        """Return whether the access token is valid for long enough to be used."""
        return self.token is not None and self.now() < self.valid_until - MARGIN

    def grant(self) -> dict[str, str]:
        """Return the fields of the call that creates an access token.

        Raises:
            ConfigurationError: the key is not an RSA key, or there is neither key nor token.
        """
        if not self.key:
            raise ConfigurationError(
                "There is neither a token nor a key. Run `presage login`, or set PRESAGE_EMAIL "
                "and PRESAGE_KEY_FILE, or PRESAGE_API_KEY_FILE."
            )
        import jwt  # imports cryptography, which only this needs

        claims = {
            "sub": self.email,
            "aud": self.address + TOKEN_PATH,
            "exp": int(time.time()) + LIFETIME,
        }
        try:
            assertion = jwt.encode(claims, self.key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError) as error:
            cause = str(error).rstrip(".")
            raise ConfigurationError(f"The key is not a usable RSA key: {cause}.") from error
        return {"grant_type": GRANT_TYPE, "assertion": assertion}

    def accept(self, answer: dict[str, Any]) -> None:
        """Store the access token that a response contains."""
        self.token = str(answer["access_token"])
        self.valid_until = self.now() + float(answer["expires_in"])
