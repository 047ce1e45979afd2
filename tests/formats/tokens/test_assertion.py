"""Parsing assertions without trusting them."""

from __future__ import annotations

import base64
import json

import jwt
import pytest

from chalicelib.formats.tokens.assertion import InvalidAssertion, is_signed_by, read_assertion
from chalicelib.formats.tokens.rsa_key import public_pem_of

CLAIMS = {"sub": "ann@example.com", "aud": ["a", "b"], "exp": 2000.5, "iat": 1000, "nbf": 1100}


def test_assertion_is_read_whole(private_pem):
    """Subject, audiences and times are those that were signed."""
    assertion = read_assertion(jwt.encode(CLAIMS, private_pem, "RS256"))

    assert (assertion.subject, assertion.audiences) == ("ann@example.com", ("a", "b"))
    assert (assertion.expires_at, assertion.not_before) == (2000.5, 1100)


@pytest.mark.parametrize(
    ("now", "is_current"), [(1039.9, False), (1040, True), (2000.4, True), (2000.5, False)]
)
def test_life_begins_a_minute_early_and_ends_on_time(private_pem, now, is_current):
    """An assertion is valid from one minute before its start, and ends on time."""
    assertion = read_assertion(jwt.encode(CLAIMS, private_pem, "RS256"))

    assert assertion.is_current(now) is is_current


def test_only_the_right_key_verifies(private_pem, other_private_pem):
    """Only the signer's public key verifies an assertion."""
    assertion = read_assertion(jwt.encode(CLAIMS, private_pem, "RS256"))

    assert is_signed_by(assertion, public_pem_of(private_pem))
    assert not is_signed_by(assertion, public_pem_of(other_private_pem))


def test_longest_assertion(private_pem):
    """A text beyond the length limit is refused before it is parsed."""
    with pytest.raises(InvalidAssertion):
        read_assertion(jwt.encode({**CLAIMS, "x": "x" * 12_000}, private_pem, "RS256"))


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"alg": "none"},
        {"alg": "HS256"},
        {"alg": "PS256"},
        {"alg": None},
        {"alg": "RS256", "crit": []},
        {"alg": "RS256", "crit": ["b64"], "b64": False},
    ],
    ids=str,
)
def test_header_is_refused_before_any_key_is_looked_up(header):
    """Another algorithm, or a critical header, is refused before any key is looked up."""
    parts = [json.dumps(part).encode() for part in (header, CLAIMS)]
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    with pytest.raises(InvalidAssertion):
        read_assertion(f"{text}.AAAA")


def test_same_text_with_the_right_header_is_read():
    """The same text with a valid header is accepted."""
    parts = [json.dumps(part).encode() for part in ({"alg": "RS256"}, CLAIMS)]
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    assert read_assertion(f"{text}.AAAA").subject == "ann@example.com"
