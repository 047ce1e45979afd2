"""Encrypts what is stored and must not be read from a table, an export or a backup.

AES-GCM under a key that is derived from the service's signing key; what is sealed is bound to the
place where it stands, so that it opens nowhere else.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from chalicelib.stores.aws.secrets import SecretStore

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class Seal:
    """Seals and opens bytes for one purpose."""

    def __init__(self, secrets: SecretStore, purpose: str) -> None:
        self._secrets = secrets
        self._purpose = purpose

    def close(self, plain: bytes, place: bytes) -> bytes:
        """Encrypt bytes that stand at a place."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher().encrypt(nonce, plain, place)

    def open(self, sealed: bytes, place: bytes) -> bytes | None:
        """Decrypt what stands at a place; None when the signing key was replaced since."""
        from cryptography.exceptions import InvalidTag

        nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._cipher().decrypt(nonce, body, place)
        except InvalidTag:
            return None

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        label = f"presage {self._purpose} ".encode()
        return AESGCM(hashlib.sha256(label + self._secrets.signing_key()).digest())
