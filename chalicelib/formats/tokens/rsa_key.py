"""RSA keys of accounts as PEM texts; `cryptography` is loaded when a key is made or checked."""

from __future__ import annotations

MIN_BITS = 2048
"""Shortest RSA key that an account may have. Contract section 2."""


class InvalidKey(ValueError):
    """The text is no RSA key that an account may have; says why."""


def new_private_pem() -> str:
    """Make a private key of `MIN_BITS` bits, as unencrypted PKCS #8 PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=MIN_BITS)
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode("ascii")


def public_pem_of(private_pem: str) -> str:
    """Give the public half of a private key.

    Raises:
        InvalidKey: the text is no unencrypted RSA private key of `MIN_BITS` bits or more.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(private_pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidKey("it is no unencrypted private key in PEM form") from error
    return _dump_public(private.public_key())


def checked_public_pem(public_pem: str) -> str:
    """Check a public key and give it in the one form that is stored.

    Raises:
        InvalidKey: the text is no RSA public key of `MIN_BITS` bits or more.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        return _dump_public(load_pem_public_key(public_pem.encode()))
    except (ValueError, UnsupportedAlgorithm) as error:
        if isinstance(error, InvalidKey):
            raise
        raise InvalidKey("it is no public key in PEM form") from error


def _dump_public(public: object) -> str:
    """Write a public key as SubjectPublicKeyInfo PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if not isinstance(public, RSAPublicKey):
        raise InvalidKey("it is no RSA key")
    if public.key_size < MIN_BITS:
        raise InvalidKey(f"it has {public.key_size} bits and needs {MIN_BITS} or more")
    return public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode("ascii")
