"""Assertions: which are accepted, and that all others are refused without a failure."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.domain.accounts.rates import RateLimits
from chalicelib.errors import InvalidGrant, InvalidParameter, InvalidToken, TokenNotFound
from chalicelib.formats.tokens.signed_token import ACCESS, REFRESH, TokenSigner
from chalicelib.services.accounts import tokens
from chalicelib.services.accounts.tokens import DUMMY_PUBLIC_KEY, TokenService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.rates import RateStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from tests.administration import public_half
from tests.services.accounts.token_world import AUDIENCE, DAY, World, encode, load_key


@pytest.fixture
def world(clients, clock, settings, private_pem, other_private_pem) -> World:
    """Two accounts with their keys."""
    return World(clients, clock, settings, private_pem, other_private_pem)


ACCEPTED = {
    "plain": {},
    "by account id": {"sub": "1"},
    "address in capitals": {"sub": "ANN@Example.COM"},
    "expiry as a float": {"exp": lambda now: now + 900.25},
    "issued a second ahead": {"iat": lambda now: now + 1},
    "issued a minute ahead": {"iat": lambda now: now + 60},
    "not before, a minute ahead": {"nbf": lambda now: now + 60},
    "issued long ago": {"iat": lambda now: now - 40 * DAY},
    "issuer of the vendor's clients": {"iss": "developer.force.com"},
    "one second left": {"exp": lambda now: now + 1},
    "endpoint of version 1": {"aud": "https://api.metamind.io/v1/oauth2/token"},
    "trailing slash": {"aud": AUDIENCE + "/"},
    "stage before the path": {"aud": "https://api.einstein.ai/api/v2/oauth2/token"},
    "local with a port": {"aud": "http://127.0.0.1:8123/v2/oauth2/token"},
    "host in capitals": {"aud": "HTTPS://API.Einstein.AI/v2/oauth2/token"},
    "one of several audiences": {"aud": ["https://elsewhere.example/", AUDIENCE]},
    "header names a key": {"headers": {"typ": "JWT", "kid": "some-key"}},
    "header offers a foreign key": {
        "headers": {"jku": "https://evil.example/k", "x5u": "https://evil.example/c", "jwk": {}}
    },
}


def is_granted(world, assertion) -> bool:
    """Return whether an assertion is granted; other errors propagate."""
    try:
        granted = world.tokens.grant_assertion(assertion)
    except InvalidGrant:
        return False
    assert world.tokens.find_caller(granted.access_token).account == world.account
    return True


def granted_of(world, table) -> dict[str, bool]:
    """Return for each row of a table whether its claims are granted."""
    found = {}
    for name, changes in table.items():
        values = {n: v(world.now) if callable(v) else v for n, v in changes.items()}
        found[name] = is_granted(world, world.sign(**values))
    return found


def test_acceptable_assertions_are_granted(world):
    """Assertions of real clients are accepted, and the token belongs to the account."""
    assert granted_of(world, ACCEPTED) == dict.fromkeys(ACCEPTED, True)


REFUSED = {
    "expired": {"exp": lambda now: now - 1},
    "expires now": {"exp": lambda now: now},
    "less than a second left": {"exp": lambda now: now + 0.5},
    "expired within the leeway": {"exp": lambda now: now - 30},
    "without expiry": {"exp": None},
    "expiry as a text": {"exp": lambda now: str(now + 900)},
    "expiry true": {"exp": True},
    "expiry negative": {"exp": -1},
    "expiry a list": {"exp": [2**40]},
    "issued too far ahead": {"iat": lambda now: now + 61},
    "not before too far ahead": {"nbf": lambda now: now + 61},
    "issued as a text": {"iat": "1"},
    "unknown address": {"sub": "nobody@example.com"},
    "unknown id": {"sub": "77"},
    "another account": {"sub": "bob@example.com"},
    "another account by id": {"sub": "2"},
    "without subject": {"sub": None},
    "empty subject": {"sub": ""},
    "subject a number": {"sub": 1},
    "subject a row of another kind": {"sub": "EMAIL#ann@example.com"},
    "subject with a lone surrogate": {"sub": "\ud800@example.com"},
    "subject with NUL": {"sub": "ann@example.com\x00"},
    "subject too long": {"sub": "a" * 5000 + "@example.com"},
    "without audience": {"aud": None},
    "other host": {"aud": "https://evil.example/v2/oauth2/token"},
    "host as user name": {"aud": "https://api.einstein.ai@evil.example/v2/oauth2/token"},
    "host as prefix": {"aud": "https://api.einstein.ai.evil.example/v2/oauth2/token"},
    "other path": {"aud": "https://api.einstein.ai/v2/oauth2/tokens"},
    "path in the query": {"aud": "https://api.einstein.ai/?/v2/oauth2/token"},
    "path glued": {"aud": "https://api.einstein.ai/xv2/oauth2/token"},
    "other scheme": {"aud": "ftp://api.einstein.ai/v2/oauth2/token"},
    "host alone": {"aud": "api.einstein.ai"},
    "no address at all": {"aud": "http://[/v2/oauth2/token"},
    "empty list of audiences": {"aud": []},
    "audience a number": {"aud": [1]},
    "audience an object": {"aud": {"a": AUDIENCE}},
    "critical header": {"headers": {"crit": ["exp"], "exp": 1}},
    "critical header, empty": {"headers": {"crit": []}},
    "unencoded payload": {"headers": {"b64": False}},
    "key id no text": {"headers": {"kid": 7}},
    "other algorithm": {"headers": {"alg": "RS512"}},
    "algorithm no text": {"headers": {"alg": ["RS256"]}},
    "algorithm in small letters": {"headers": {"alg": "rs256"}},
}


def test_unacceptable_assertions_are_refused(world):
    """Every other claim or header is refused with the same error."""
    assert granted_of(world, REFUSED) == dict.fromkeys(REFUSED, False)


def test_huge_expiry_is_limited_to_thirty_days(world):
    """An expiry beyond the range of dates is limited to 30 days."""
    for exp in (world.now + 31 * DAY, 10**300, 1e300):
        granted = world.grant(exp=exp)

        assert granted.expires_in == 30 * DAY

    world.clock.advance(days=30, seconds=-1)
    assert world.tokens.find_caller(granted.access_token)
    world.clock.advance(seconds=1)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.access_token)


def raw_assertions(world):
    """Build signed texts that no ordinary library would write."""
    head = b'{"alg":"RS256"}'
    good = json.dumps(world.claims()).encode()

    def claims_with(text):
        """Add a member in front of valid claims."""
        return b"{" + text + b"," + good[1:]

    return {
        "NaN": (head, b'{"exp":NaN,' + good[1:].replace(b'"exp"', b'"x"')),
        "Infinity": (head, b'{"exp":Infinity,' + good[1:].replace(b'"exp"', b'"x"')),
        "float overflow": (head, b'{"exp":1e999,' + good[1:].replace(b'"exp"', b'"x"')),
        "very long number": (head, claims_with(b'"x":' + b"9" * 5000)),
        "repeated claim": (head, claims_with(b'"sub":"bob@example.com"')),
        "repeated header": (b'{"alg":"none","alg":"RS256"}', good),
        "deep claims": (head, claims_with(b'"x":' + b"[" * 3000 + b"]" * 3000)),
        "claims just too deep": (head, claims_with(b'"x":' + b"[" * 64 + b"]" * 64)),
        "claims in UTF-16": (head, good.decode().encode("utf-16")),
        "deep header": (b'{"alg":"RS256","x":' + b"[" * 3000 + b"]" * 3000 + b"}", good),
        "claims a list": (head, b"[1]"),
        "claims a number": (head, b"1"),
        "claims null": (head, b"null"),
        "claims no JSON": (head, b"sub=ann"),
        "claims no UTF-8": (head, b'{"sub":"\xff\xfe"}'),
        "header a list": (b'["RS256"]', good),
        "trailing text": (head, good + b"{}"),
    }


def test_odd_json_is_refused(world):
    """A correctly signed text that is not a plain JSON object is refused without a failure."""
    attempts = raw_assertions(world)

    found = {name: is_granted(world, world.sign_raw(*raw)) for name, raw in attempts.items()}

    assert found == dict.fromkeys(attempts, False)


def test_other_signatures_are_refused(world):
    """Only RS256 signatures with a key of the account are accepted."""
    public_pem = public_half(world.private_pem).encode()
    content = encode(json.dumps(world.claims()).encode())
    hs256, none = encode(b'{"alg":"HS256"}'), encode(b'{"alg":"none"}')
    confused = f"{hs256}.{content}"
    digest = hmac.new(public_pem, confused.encode(), hashlib.sha256).digest()
    good = world.sign()
    head, body, signature = good.split(".")
    forged = encode(json.dumps(world.claims(sub="bob@example.com")).encode())
    key = load_key(world.private_pem)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    attempts = {
        "none": f"{none}.{content}.",
        "none with a signature": f"{none}.{content}.{signature}",
        "HS256 with the public key": f"{confused}.{encode(digest)}",
        "HS256 header, RS256 signature": f"{hs256}.{body}.{signature}",
        "PSS padding": f"{head}.{body}.{encode(key.sign(good.encode(), pss, hashes.SHA256()))}",
        "other account's key": world.sign(world.other_private_pem),
        "tampered claims": f"{head}.{forged}.{signature}",
        "tampered signature": f"{head}.{body}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        "short signature": f"{head}.{body}.{signature[:-4]}",
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.{signature}",
    }

    found = {name: is_granted(world, attempt) for name, attempt in attempts.items()}

    assert found == dict.fromkeys(attempts, False)


ODD_TEXTS = ["", ".", "..", "...", "a.b.c", "\x00", "\ud800.\ud800.\ud800", "é.é.é", "a" * 10**6]
ODD_TEXTS += ["..a", "a..", "=.=.=", "eyJhbGciOiJSUzI1NiJ9.e30.", "eyJhbGciOiJSUzI1NiJ9.e30.A"]
ODD_TEXTS += [" ", "Bearer x", "[" * 100_000, "a.b.c\n"]


def test_odd_texts_are_refused_everywhere(world):
    """Malformed tokens are refused at every entry point, whatever their length."""
    for text in ODD_TEXTS:
        with pytest.raises(InvalidGrant):
            world.tokens.grant_assertion(text)
        with pytest.raises(InvalidGrant):
            world.tokens.grant_refresh(text)
        with pytest.raises(InvalidToken):
            world.tokens.find_caller(text)
        with pytest.raises(TokenNotFound):
            world.tokens.revoke(world.account, text)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
CLAIMS = st.dictionaries(
    st.sampled_from(["sub", "aud", "exp", "iat", "nbf", "crit", "x"]), JSON_VALUES, max_size=6
)
SHARED = hypothesis_settings(
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@SHARED
@given(text=st.text(max_size=300), valid_for=JSON_VALUES)
def test_any_text_is_refused_cleanly(world, text, valid_for):
    """Any text as a token raises only the documented errors."""
    for call in (world.tokens.grant_assertion, world.tokens.find_caller):
        with pytest.raises((InvalidGrant, InvalidToken)):
            call(text)
    with pytest.raises((InvalidGrant, InvalidParameter)):
        world.tokens.grant_refresh(text, valid_for)


@SHARED
@given(header=CLAIMS, claims=CLAIMS)
def test_any_signed_claims_are_refused_cleanly(world, header, claims):
    """Any JSON signed with a valid key raises only the documented error."""
    head = json.dumps({**header, "alg": "RS256"}).encode()

    with pytest.raises(InvalidGrant):
        world.tokens.grant_assertion(world.sign_raw(head, json.dumps(claims).encode()))


@SHARED
@given(raw=st.binary(max_size=200), place=st.integers(0, 2), is_access=st.booleans())
def test_any_bytes_in_a_token_are_refused_cleanly(world, raw, place, is_access):
    """A token of the service with any part replaced by other bytes is refused."""
    claims = {"sub": "1", "exp": world.now + 9, "jti": "a", "key": world.account.keys[0].key_id}
    signer = TokenSigner(world.secrets.signing_key(), world.settings.name)
    parts = signer.sign(ACCESS if is_access else REFRESH, claims).split(".")
    assume(parts[place] != encode(raw))
    parts[place] = encode(raw)

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(".".join(parts))
    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(".".join(parts))


@pytest.mark.parametrize("subject", ["nobody@example.com", "77", "closed@example.com"])
def test_unknown_subject_costs_a_signature_check(world, monkeypatch, subject):
    """Unknown and closed accounts cost one signature check too, so timing reveals nothing."""
    closed = world.accounts.create("closed@example.com", public_pem=public_half(world.private_pem))
    world.accounts.close(closed.account.email)
    checked, verify = [], tokens.is_signed_by
    monkeypatch.setattr(
        tokens, "is_signed_by", lambda *call: checked.append(call[1]) or verify(*call)
    )

    with pytest.raises(InvalidGrant):
        world.grant(sub=subject)

    assert checked == [DUMMY_PUBLIC_KEY]


def test_audience_of_the_settings_is_accepted(world, clients):
    """A host of the settings is a valid audience, in upper or lower case."""
    settings = replace(world.settings, audience_hosts=("Predict.Example",))
    rates = RateLimits(RateStore(clients), world.clock)
    accounts, refresh_tokens = AccountStore(clients), RefreshTokenStore(clients)
    world.tokens = TokenService(
        accounts, refresh_tokens, world.secrets, world.clock, settings, rates
    )

    assert world.grant(aud="https://predict.example/prod/v2/oauth2/token")
    with pytest.raises(InvalidGrant):
        world.grant()


def test_the_gateways_own_host_is_an_audience(world):
    """Without a custom domain the gateway's own host is a valid audience, and no other host."""
    own = "a1b2c3.execute-api.eu-central-1.amazonaws.com"
    address = f"https://{own}/api/v2/oauth2/token"

    assert world.tokens.grant_assertion(world.sign(aud=address), None, own).expires_in
    assert world.tokens.grant_assertion(world.sign(aud=address), None, f"{own.upper()}:4566")
    for domain in ("", "other.execute-api.eu-central-1.amazonaws.com"):
        with pytest.raises(InvalidGrant):
            world.tokens.grant_assertion(world.sign(aud=address), None, domain)
