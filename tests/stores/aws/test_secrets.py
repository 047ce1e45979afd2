"""The signing key comes from the settings or Secrets Manager and has a minimum length."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.config import SettingsError
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.secrets import SecretStore

LONG = "a secret that is long enough for HS256"


def test_key_of_the_settings_needs_no_call(settings):
    """With a key in the settings, Secrets Manager is not called."""
    store = SecretStore(None, replace(settings, token_secret=LONG, token_secret_name="x"))

    assert store.signing_key() == LONG.encode()


def test_key_of_secrets_manager_is_read_once(clients, settings):
    """A named secret is read at its first use and cached."""
    clients.secrets.create_secret(Name="signing", SecretString=LONG)
    store = SecretStore(clients, replace(settings, token_secret="", token_secret_name="signing"))
    assert store.signing_key() == LONG.encode()

    clients.secrets.delete_secret(SecretId="signing", ForceDeleteWithoutRecovery=True)

    assert store.signing_key() == LONG.encode()


def test_missing_secret_is_unavailable(clients, settings):
    """A secret that cannot be read is a retryable error."""
    store = SecretStore(clients, replace(settings, token_secret="", token_secret_name="none"))

    with pytest.raises(StorageUnavailable):
        store.signing_key()


@pytest.mark.parametrize("text", ["", "x" * 31])
def test_short_key_is_refused(settings, text):
    """A key of fewer than 32 bytes is refused; the error names the variables to set."""
    store = SecretStore(None, replace(settings, token_secret=text))

    with pytest.raises(SettingsError, match=f"{len(text)} bytes .* PRESAGE_TOKEN_SECRET"):
        store.signing_key()
