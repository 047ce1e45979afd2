"""The service's own tokens: accepted only with its signature and their kind."""

from __future__ import annotations

import pytest

from chalicelib.formats.tokens.signed_token import (
    ACCESS,
    MAX_CHARACTERS,
    REFRESH,
    NotOurToken,
    TokenSigner,
)

KEY = b"k" * 32
CLAIMS = {"sub": "1", "jti": "é\x00"}


def test_claims_come_back():
    """Signed claims are read back, with issuer and audience."""
    signer = TokenSigner(KEY, "presage")

    for kind in (ACCESS, REFRESH):
        assert signer.read(kind, signer.sign(kind, CLAIMS)) == {
            "iss": "presage",
            "aud": "presage",
            **CLAIMS,
        }


@pytest.mark.parametrize(
    ("signer", "kind"),
    [
        (TokenSigner(b"x" * 32, "presage"), ACCESS),
        (TokenSigner(KEY, "elsewhere"), ACCESS),
        (TokenSigner(KEY, "presage"), REFRESH),
    ],
    ids=["key", "issuer", "kind"],
)
def test_other_tokens_are_refused(signer, kind):
    """A token of another key, service or kind is refused."""
    with pytest.raises(NotOurToken):
        TokenSigner(KEY, "presage").read(ACCESS, signer.sign(kind, CLAIMS))


def test_endless_tokens_are_refused_unread():
    """A token beyond the length limit is refused even if its signature is valid."""
    signer = TokenSigner(KEY, "presage")

    with pytest.raises(NotOurToken):
        signer.read(ACCESS, signer.sign(ACCESS, {"x": "x" * MAX_CHARACTERS}))


def test_claims_of_one_call_are_not_those_of_the_next():
    """Changing the claims of a cached token does not affect later calls."""
    signer = TokenSigner(KEY, "presage")
    token = signer.sign(ACCESS, CLAIMS)
    signer.read(ACCESS, token)["sub"] = "2"

    assert signer.read(ACCESS, token)["sub"] == "1"
    with pytest.raises(NotOurToken):
        signer.read(REFRESH, token)
    with pytest.raises(NotOurToken):
        signer.read(ACCESS, token[:-1] + ("A" if token[-1] != "A" else "B") * 2)
