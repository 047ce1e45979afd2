"""Only RSA keys of 2048 bits or more are an account's keys."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from chalicelib.formats.tokens.rsa_key import InvalidKey, checked_public_pem, public_pem_of

SHORT_BITS = 1024


def pems(private, form=serialization.PublicFormat.SubjectPublicKeyInfo, password=None):
    """Write a private key and its public half as PEM."""
    encryption = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        ).decode(),
        private.public_key().public_bytes(serialization.Encoding.PEM, form).decode(),
    )


def test_public_half_is_the_same_from_both_sides(private_pem):
    """The private key's public half passes the check unchanged."""
    public_pem = public_pem_of(private_pem)

    assert checked_public_pem(public_pem) == public_pem
    assert private_pem.startswith("-----BEGIN PRIVATE KEY-----\n")


def test_other_spelling_is_stored_in_one_form(private_pem):
    """A public key in the older PEM form is the same key."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    older = pems(private, serialization.PublicFormat.PKCS1)[1]

    assert checked_public_pem(older) == public_pem_of(private_pem)


@pytest.mark.parametrize(
    ("private", "reason"),
    [
        (rsa.generate_private_key(65537, SHORT_BITS), "1024 bits and needs 2048"),
        (ec.generate_private_key(ec.SECP256R1()), "no RSA key"),
    ],
    ids=["short", "elliptic"],
)
def test_weaker_and_other_keys_are_refused(private, reason):
    """A short or elliptic key is refused, and the text says why."""
    private_pem, public_pem = pems(private)

    with pytest.raises(InvalidKey, match=reason):
        checked_public_pem(public_pem)
    with pytest.raises(InvalidKey, match=reason):
        public_pem_of(private_pem)


def test_encrypted_private_key_is_refused(private_pem):
    """A private key behind a password cannot be used."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    with pytest.raises(InvalidKey, match="unencrypted"):
        public_pem_of(pems(private, password=b"secret")[0])
