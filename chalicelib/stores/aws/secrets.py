"""Reads the signing key of the service, and encrypts stored secrets with a key made from it.

The signing key is in the settings or in Secrets Manager. Because secrets are encrypted, tables,
exports and backups do not reveal them.
"""

from __future__ import annotations

import hashlib
import os
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.config import Settings, SettingsError
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# HS256 needs a key at least as long as its digest (RFC 7518, section 3.2).
MIN_SECRET_BYTES = 32


@translate_errors
class SecretStore:
    """Reads the signing key once and caches it."""

    def __init__(self, clients: Clients, settings: Settings) -> None:
        self._clients = clients
        self._settings = settings
        self._lock = Lock()
        self._signing_key: bytes | None = None

    def signing_key(self) -> bytes:
        """Return the key that signs tokens; raise SettingsError if it is missing or too short."""
        with self._lock:
            if self._signing_key is None:
                self._signing_key = self._read()
            return self._signing_key

    def _read(self) -> bytes:
        text = self._settings.token_secret
        if not text and self._settings.token_secret_name:
            name = self._settings.token_secret_name
            text = self._clients.secrets.get_secret_value(SecretId=name)["SecretString"]
        key = text.encode()
        if len(key) < MIN_SECRET_BYTES:
            raise SettingsError(
                f"The key that signs tokens has {len(key)} bytes and needs {MIN_SECRET_BYTES} or "
                "more: set PRESAGE_TOKEN_SECRET, or PRESAGE_TOKEN_SECRET_NAME to the secret that "
                "holds it"
            )
        return key


_NONCE_BYTES = 12


class Seal:
    """Encrypts and decrypts bytes for one purpose, with AES-GCM.

    The key is derived from the signing key. The location of a value, such as the primary key of its
    row, is authenticated too. So a value that is copied to another row cannot be decrypted there.
    """

    def __init__(self, secrets: SecretStore, purpose: str) -> None:
        self._secrets = secrets
        self._purpose = purpose

    def close(self, plain: bytes, place: bytes) -> bytes:
        """Encrypt bytes for storage at the location `place`."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher().encrypt(nonce, plain, place)

    def open(self, sealed: bytes, place: bytes) -> bytes | None:
        """Decrypt bytes; return None if they were encrypted for another location or signing key."""
        # Imported on first use, because every import makes a cold start longer.
        from cryptography.exceptions import InvalidTag

        nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._cipher().decrypt(nonce, body, place)
        except InvalidTag:
            return None

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        # A separate key per purpose, so that a value of one purpose cannot be used for another.
        label = f"presage {self._purpose} ".encode()
        return AESGCM(hashlib.sha256(label + self._secrets.signing_key()).digest())
