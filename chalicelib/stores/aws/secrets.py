"""Reads the service's signing key from the settings or from Secrets Manager."""

from __future__ import annotations

from threading import Lock

from chalicelib.config import Settings, SettingsError
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

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
        """Return the key that signs access and refresh tokens.

        Raises:
            SettingsError: no key is configured, or it is too short.
        """
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
