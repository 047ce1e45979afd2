"""String ids: 26 characters of Base32. See contract section 1."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets

STRING_ID = re.compile(r"[A-Z2-7]{26}")


def new_string_id() -> str:
    """Return a new random string id: the unpadded Base32 of 16 random bytes."""
    return _encode(secrets.token_bytes(16))


def derived_string_id(*parts: object) -> str:
    """Return an id derived from these parts; the same parts always give the same id."""
    # Derived ids let a repeated DELETE find its record even when the deleted rows are gone.
    text = "\x1f".join(str(part) for part in parts)
    return _encode(hashlib.sha256(text.encode()).digest()[:16])


def _encode(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").rstrip("=")
