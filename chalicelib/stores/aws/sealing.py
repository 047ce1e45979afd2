"""Encrypts stored secrets, so that tables, exports and backups do not reveal them.

The cipher is AES-GCM with a key derived from the service's signing key. The place of a value, such
as its row's key, is authenticated with it. So a value that is copied to another row cannot be
decrypted there.
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
    """Encrypts and decrypts bytes for one purpose."""

    def __init__(self, secrets: SecretStore, purpose: str) -> None:
        self._secrets = secrets
        self._purpose = purpose

    def close(self, plain: bytes, place: bytes) -> bytes:
        """Encrypt bytes that are stored at `place`, such as the key of a row."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher().encrypt(nonce, plain, place)

    def open(self, sealed: bytes, place: bytes) -> bytes | None:
        """Decrypt the bytes stored at `place`; return None if the signing key has changed since."""
        # Imported on first use, because every import makes a cold start longer.
        from cryptography.exceptions import InvalidTag

        nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._cipher().decrypt(nonce, body, place)
        except InvalidTag:
            return None

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        # A separate key per purpose, so that a value of one purpose cannot stand for another.
        label = f"presage {self._purpose} ".encode()
        return AESGCM(hashlib.sha256(label + self._secrets.signing_key()).digest())
