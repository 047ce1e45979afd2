"""The service's signing key, from the settings or from Secrets Manager."""

from __future__ import annotations

from threading import Lock

from chalicelib.config import Settings, SettingsError
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

MIN_SECRET_BYTES = 32
"""HS256 needs a key as long as its digest. RFC 7518 section 3.2."""


@translate_errors
class SecretStore:
    """Holds the signing key from its first use on, so that a request never waits for it twice."""

    def __init__(self, clients: Clients, settings: Settings) -> None:
        self._clients = clients
        self._settings = settings
        self._lock = Lock()
        self._signing_key: bytes | None = None

    def signing_key(self) -> bytes:
        """Give the key that signs access and refresh tokens.

        Raises:
            SettingsError: there is none, or it is too short to be safe.
        """
        with self._lock:
            if self._signing_key is None:
                self._signing_key = self._read()
            return self._signing_key

    def _read(self) -> bytes:
        """Read and check the key."""
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
