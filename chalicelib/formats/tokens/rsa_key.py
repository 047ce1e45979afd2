"""RSA keys of accounts in PEM format. `cryptography` is imported when it is first needed."""

from __future__ import annotations

import base64
import hashlib

# Minimum length of an account's RSA key. See contract section 2.
MIN_BITS = 2048


class InvalidKey(ValueError):
    """A text is not an RSA key that an account may use. The message says why."""


def new_private_pem() -> str:
    """Create an RSA private key of `MIN_BITS` bits, as unencrypted PKCS #1 PEM.

    Existing clients expect this format, because the service that Presage replaces returned it. For
    example, some clients remove the first and the last line of the PEM text.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=MIN_BITS)
    return private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode("ascii")


def public_pem_of(private_pem: str) -> str:
    """Return the public key of a private key, as PEM.

    Raises:
        InvalidKey: the text is not an unencrypted RSA private key of `MIN_BITS` bits or more.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(private_pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidKey("it is not an unencrypted private key in PEM form") from error
    return _dump_public(private.public_key())


def checked_public_pem(public_pem: str) -> str:
    """Check a public key or a certificate; return the public key as PEM, for storage.

    Only the public key of a certificate is used. Its expiry, for example, is ignored.

    Raises:
        InvalidKey: the text is not an RSA public key of `MIN_BITS` bits or more.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from cryptography.x509 import load_pem_x509_certificate

    if "PRIVATE KEY-----" in public_pem:
        raise InvalidKey(
            "it holds a private key, which never leaves its owner; send only the public half, "
            "as written by: openssl pkey -in FILE -pubout"
        )
    pem = public_pem.encode()
    try:
        if "BEGIN CERTIFICATE-----" in public_pem:
            return _dump_public(load_pem_x509_certificate(pem).public_key())
        return _dump_public(load_pem_public_key(pem))
    except (ValueError, UnsupportedAlgorithm) as error:
        if isinstance(error, InvalidKey):
            raise
        raise InvalidKey("it is not a public key or certificate in PEM form") from error


def fingerprint(public_pem: str) -> str:
    """Return the SHA-256 digest of a public key in DER format, as hexadecimal digits."""
    body = "".join(line for line in public_pem.splitlines() if not line.startswith("-----"))
    return hashlib.sha256(base64.b64decode(body)).hexdigest()


def _dump_public(public: object) -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if not isinstance(public, RSAPublicKey):
        raise InvalidKey("it is not an RSA key")
    if public.key_size < MIN_BITS:
        raise InvalidKey(f"it has {public.key_size} bits and needs {MIN_BITS} or more")
    return public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode("ascii")
