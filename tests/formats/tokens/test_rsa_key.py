"""Account keys must be RSA keys of at least 2048 bits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
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
    assert private_pem.startswith("-----BEGIN RSA PRIVATE KEY-----\n")
    assert private_pem.endswith("-----END RSA PRIVATE KEY-----\n")


def test_both_private_forms_are_read(private_pem):
    """A key file of an earlier version, in PKCS #8, is the same key."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    assert public_pem_of(pems(private)[0]) == public_pem_of(private_pem)


def certificate(private, ended=True) -> str:
    """Sign a certificate that has ended long ago."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "device")])
    years = (2001, 2002) if ended else (2001, 2099)
    built = x509.CertificateBuilder(name, name, private.public_key(), 1).not_valid_before(
        datetime(years[0], 1, 1, tzinfo=UTC)
    )
    built = built.not_valid_after(datetime(years[1], 1, 1, tzinfo=UTC))
    return built.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def test_certificates_key_is_taken_whatever_its_age(private_pem):
    """A certificate's public key is accepted, even if the certificate has expired."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)
    exported = f"Bag Attributes\n    friendlyName: device\n{certificate(private)}"

    assert checked_public_pem(exported) == public_pem_of(private_pem)
    with pytest.raises(InvalidKey, match="1024 bits"):
        checked_public_pem(certificate(rsa.generate_private_key(65537, SHORT_BITS)))
    with pytest.raises(InvalidKey, match="not a public key or certificate"):
        checked_public_pem("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----")


def test_private_key_is_not_a_public_key(private_pem):
    """A private key sent as a public one is refused, even next to a certificate."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    for sent in (private_pem, pems(private)[0], certificate(private) + private_pem):
        with pytest.raises(InvalidKey, match="private key"):
            checked_public_pem(sent)


def test_other_spelling_is_stored_in_one_form(private_pem):
    """Older PEM forms of a public key are stored in one form."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    older = pems(private, serialization.PublicFormat.PKCS1)[1]

    assert checked_public_pem(older) == public_pem_of(private_pem)


@pytest.mark.parametrize(
    ("private", "reason"),
    [
        (rsa.generate_private_key(65537, SHORT_BITS), "1024 bits and needs 2048"),
        (ec.generate_private_key(ec.SECP256R1()), "not an RSA key"),
    ],
    ids=["short", "elliptic"],
)
def test_weaker_and_other_keys_are_refused(private, reason):
    """A short or elliptic key is refused with the reason."""
    private_pem, public_pem = pems(private)

    with pytest.raises(InvalidKey, match=reason):
        checked_public_pem(public_pem)
    with pytest.raises(InvalidKey, match=reason):
        public_pem_of(private_pem)


def test_encrypted_private_key_is_refused(private_pem):
    """An encrypted private key is refused."""
    private = serialization.load_pem_private_key(private_pem.encode(), None)

    with pytest.raises(InvalidKey, match="unencrypted"):
        public_pem_of(pems(private, password=b"secret")[0])
