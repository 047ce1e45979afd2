"""API keys: secrets that a program sends in place of an access token. See beyond.md, section 11."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.errors import BadRequest, NotFound, ServiceError

# Scopes: every call that a key may make, or only predictions.
ALL, PREDICT = "all", "predict"
# Scope of calls that no key may make, only an access token: a stolen key could issue other keys.
NO_KEY = "none"
# Maximum number of keys of an account.
MAX_KEYS = 20
MAX_KEY_NAME = 64
# Number of random bytes in a secret.
SECRET_BYTES = 32
# Prefix of API secrets. Access tokens never begin with it.
PREFIX = "pk_"
# Number of characters of a secret that stay visible, so that a person recognises the key.
SHOWN_CHARACTERS = 8
# A use of a key is stored only if the last stored use is this old, so that few calls write.
NOTED_EVERY = timedelta(days=1)
_FORM = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


class ApiKeyNotFound(NotFound):
    """The account has no such API key."""

    code = "key_not_found"

    def __init__(self, key_id: object) -> None:
        # The key itself is a common mistake, and commands print this text.
        shown = hide_keys(str(key_id))
        super().__init__(f"There is no API key {shown}; GET /v2/keys lists them.")


class TooManyApiKeys(BadRequest):
    """The account has the maximum number of API keys."""

    code = "too_many_keys"
    text = (
        f"The account has {MAX_KEYS} API keys, the maximum. Delete one that is no longer used: "
        "DELETE /v2/keys/{id}"
    )


class InsufficientScope(ServiceError):
    """The scope of the API key does not allow the call."""

    status = 403
    code = "insufficient_scope"

    def __init__(self, needed_scope: str) -> None:
        if needed_scope == NO_KEY:
            text = "No API key may make this call. Sign in with the key file of the account."
        else:
            text = (
                f"An API key of the scope '{PREDICT}' may only make single predictions, read "
                "documents, and call GET models/{id}, GET /v2/apiusage and GET /v2/whoami. Use a "
                f"key of the scope '{ALL}' or an access token."
            )
        super().__init__(text)


@dataclass(frozen=True)
class ApiKey:
    """An API key as it is stored. The secret is not stored, only its digest."""

    account_id: str
    key_id: str
    name: str
    scope: str
    """ALL or PREDICT."""
    prefix: str
    """First characters of the secret."""
    digest: str
    """SHA-256 of the secret in hexadecimal digits."""
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """Return whether the key has not expired at the time `now`."""
        return self.expires_at is None or now < self.expires_at

    def is_use_due(self, now: datetime) -> bool:
        """Return whether the stored time of the last use is missing or at least NOTED_EVERY old."""
        return self.last_used_at is None or now - self.last_used_at >= NOTED_EVERY


def is_well_formed(secret: str) -> bool:
    """Return whether a text has the form of the secret of an API key."""
    return _FORM.fullmatch(secret) is not None


def hide_keys(text: str) -> str:
    """Replace all secrets of API keys in a text by `pk_…`."""
    return _FORM.sub(f"{PREFIX}…", text) if PREFIX in text else text


def new_api_secret(random: bytes) -> str:
    """Encode random bytes as the secret of an API key."""
    return PREFIX + base64.urlsafe_b64encode(random).rstrip(b"=").decode("ascii")


def digest_of(secret: str) -> str:
    """Return the digest of a secret. The service stores the digest, and not the secret."""
    # A plain hash is enough: 2^256 secrets cannot be tried.
    return hashlib.sha256(secret.encode("ascii")).hexdigest()


def check_scope(scope: str, needed_scope: str) -> None:
    """Raise an error unless the scope of an API key allows a call.

    Args:
        scope: ALL or PREDICT, the scope of the key.
        needed_scope: the scope that the call needs: PREDICT, ALL, or NO_KEY for no API key.

    Raises:
        InsufficientScope: the scope does not allow the call.
    """
    if needed_scope == NO_KEY or (needed_scope == ALL and scope != ALL):
        raise InsufficientScope(needed_scope)
