"""Invalid assertions, bearer tokens and refresh tokens. Contract section 2."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

import jwt
import pytest

from chalicelib.formats.tokens.rsa_key import new_private_pem
from tests.live import AUDIENCE, JWT_BEARER, Caller, talk

EMAIL = "owner@example.test"
LISTING = "/v2/language/datasets"


def segment(value: object) -> str:
    """Encode one part of a JWT."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def hs256(key: str, head: object, claims: object) -> str:
    """Sign by HMAC with an account's public key as the secret."""
    body = f"{segment(head)}.{segment(claims)}"
    return f"{body}.{segment(hmac.digest(key.encode(), body.encode(), hashlib.sha256))}"


@pytest.fixture(scope="module")
def offline(live, victim):
    """The answer of a grant with a refresh token."""
    assertion = live.assertion(sub=EMAIL)
    return live.grant(grant_type=JWT_BEARER, assertion=assertion, scope="offline").ok()


def claims(**more: object) -> dict[str, object]:
    """Claims that would be accepted."""
    return {"sub": EMAIL, "aud": AUDIENCE, "exp": time.time() + 600, **more}


BAD_CLAIMS = [
    {"exp": 1},
    {"exp": None},
    {"exp": "2099"},
    {"exp": -1},
    {"exp": [1]},
    {"exp": True},
    {"sub": None},
    {"sub": ""},
    {"sub": 1},
    {"sub": "unknown@example.test"},
    {"sub": "owner@example.test\x00"},
    {"sub": "' OR 1=1"},
    {"sub": "x" * 5000},
    {"aud": None},
    {"aud": ""},
    {"aud": 1},
    {"aud": {}},
    {"aud": "https://evil.test/v2/oauth2/token"},
    {"aud": "https://api.einstein.ai/v2/other"},
    {"aud": "https://api.einstein.ai.evil.test/v2/oauth2/token"},
    {"aud": "https://evil.test/?https://api.einstein.ai/v2/oauth2/token"},
    {"aud": "https://api.einstein.ai@evil.test/v2/oauth2/token"},
    {"aud": "ftp://api.einstein.ai/v2/oauth2/token"},
    {"nbf": 4_000_000_000},
    {"iat": 4_000_000_000},
    {"iat": "x"},
]


@pytest.mark.parametrize("changed", BAD_CLAIMS)
def test_bad_claim_is_the_one_401(live, victim, changed):
    """Every invalid claim gets the same 401."""
    answer = live.grant(
        grant_type=JWT_BEARER, assertion=live.assertion(**{"sub": EMAIL, **changed})
    )

    assert answer.refused(401) == "invalid_grant"
    assert answer.body == b'{"message":"Invalid authorization grant","code":"invalid_grant"}'


def forged(live):
    """Make assertions that another key, or none, has signed."""
    _, body, signature = live.assertion(sub=EMAIL).split(".")
    other = new_private_pem()
    rs256 = {"alg": "RS256", "typ": "JWT"}
    yield "none", f"{segment({'alg': 'none'})}.{body}."
    yield "none in capitals", f"{segment({'alg': 'NONE'})}.{body}."
    yield "none with signature", f"{segment({'alg': 'none'})}.{body}.{signature}"
    yield "confusion", hs256(live.public_pem, {"alg": "HS256"}, claims())
    yield "confusion under RS256", hs256(live.public_pem, rs256, claims())
    yield "other key", jwt.encode(claims(), other, algorithm="RS256")
    yield "key in header", jwt.encode(claims(), other, "RS256", headers={"jwk": {"kty": "RSA"}})
    yield "address in header", jwt.encode(claims(), other, "RS256", headers={"jku": "http://x/"})
    yield "RS512", jwt.encode(claims(), live.pem, algorithm="RS512")
    yield "PS256", jwt.encode(claims(), live.pem, algorithm="PS256")
    yield "critical", jwt.encode(claims(), live.pem, "RS256", headers={"crit": ["x"], "x": 1})


def broken(live):
    """Yield assertions that are not JWTs, or whose signature is wrong, by name."""
    good = live.assertion(sub=EMAIL)
    head, body, signature = good.split(".")
    yield "no signature", f"{head}.{body}."
    yield "cut signature", good[:-10]
    yield "other body", f"{head}.{segment(claims(sub='stranger@example.test'))}.{signature}"
    yield "two parts", f"{head}.{body}"
    yield "four parts", f"{good}.x"
    yield "words", "hello"
    yield "dots", ".."
    yield "no JSON", f"{segment(b'{')}.{body}.{signature}"
    yield "a list", f"{segment([])}.{body}.{signature}"
    yield "deep", f"{segment(b'[' * 9000)}.{body}.{signature}"
    twice = segment(b'{"alg":"none","alg":"RS256"}')
    yield "twice", f"{twice}.{body}.{signature}"
    yield "16 KB", live.assertion(sub=EMAIL, padding="x" * 16_000)
    yield "1 MB", "a" * 500_000 + "." + "b" * 500_000 + ".c"
    yield "NUL", "a\x00b.c.d"
    yield "emoji", "🙂.🙂.🙂"


def test_forged_assertions_are_the_one_401(live, victim):
    """Algorithm none, key confusion, foreign keys and broken texts get the same 401."""
    for name, text in (*forged(live), *broken(live)):
        answer = live.grant(grant_type=JWT_BEARER, assertion=text)
        assert answer.status in ((401, 400) if name in ("NUL", "1 MB") else (401,)), (name, answer)
        assert list(answer.json) == ["message", "code"], name


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": time.time() + 3600.75},
        {"iat": time.time() + 1},
        {"iss": "developer.force.com"},
        {"aud": ["https://x.test/", AUDIENCE]},
        {"aud": "https://api.metamind.io/v1/oauth2/token/"},
        {"aud": "http://localhost:8000/api/v2/oauth2/token"},
        {"sub": "OWNER@example.test"},
        {"exp": time.time() + 30 * 3600},
        {"exp": 4e12},
    ],
)
def test_odd_claims_of_real_clients_are_accepted(live, victim, changed):
    """Unusual claims of real clients are accepted with a valid signature."""
    answer = live.grant(
        grant_type=JWT_BEARER, assertion=live.assertion(**{"sub": EMAIL, **changed})
    )

    record = answer.ok()
    assert list(record) == ["access_token", "token_type", "expires_in"]
    assert type(record["expires_in"]) is int
    assert 0 < record["expires_in"] <= 30 * 24 * 3600
    assert Caller(live.url, record["access_token"]).get(LISTING).status == 200


@pytest.mark.parametrize("fields", [{}, {"grant_type": ""}, {"grant_type": "password"}])
def test_missing_or_unknown_grant_type_is_a_400(live, fields):
    """The two grant types are named."""
    live.grant(**fields).refused(400, "grant_type")


@pytest.mark.parametrize(
    "seconds", ["0", "-1", "x", "1.5", "2592001", "9" * 30, "1e3", "١", "0x10", "NaN"]
)
def test_bad_valid_for_is_a_400(live, offline, seconds):
    """A lifetime other than a number of seconds up to 30 days names the limit."""
    answer = live.grant(
        grant_type="refresh_token", refresh_token=offline["refresh_token"], valid_for=seconds
    )

    answer.refused(400, "valid_for", "2592000")


def test_refresh_tokens_that_are_none_are_a_401(live, victim, offline):
    """An access token, or a broken or foreign text, as refresh token is a 401."""
    for token in (victim.token, offline["refresh_token"][:-4], "x", "a.b.c", ".." + "x" * 100_000):
        answer = live.grant(grant_type="refresh_token", refresh_token=token)
        assert answer.refused(401) == "invalid_grant"


def expired_token(live):
    """Obtain an access token and wait until it has expired."""
    for seconds in (2.0, 8.0, 32.0):  # longer where the machine was too slow to use the assertion
        end = time.time() + seconds
        answer = live.grant(grant_type=JWT_BEARER, assertion=live.assertion(sub=EMAIL, exp=end))
        if answer.status == 200:
            break
    token = answer.ok()["access_token"]
    time.sleep(max(0.0, end - time.time()) + 0.1)
    return token


def test_bearers_that_are_none_are_a_401(live, victim, offline):
    """A refresh token, an assertion, a changed or an expired token as bearer is a 401."""
    head, body, signature = victim.token.split(".")
    forged_claims = jwt.decode(victim.token, options={"verify_signature": False})
    short = expired_token(live)
    for token in (
        offline["refresh_token"],
        live.assertion(sub=EMAIL),
        f"{segment({'alg': 'none'})}.{body}.",
        hs256(live.public_pem, {"alg": "HS256"}, forged_claims),
        f"{head}.{segment({**forged_claims, 'sub': '2'})}.{signature}",
        f"{head}.{body}.{signature[:-2]}",
        short,
        "x",
        "a.b.c",
        "A" * 10_000,
    ):
        answer = Caller(live.url, token).get(LISTING)
        assert answer.refused(401) in ("invalid_token", "invalid_authentication_scheme"), token
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer a b", "Basic YTpi", "Bearer\tx", "Token x", "Bearer: x",
     "Bearer é", "x", "Bearer a, Bearer b", "bearer=x"],
)  # fmt: skip
def test_other_schemes_are_a_401(live, victim, header):
    """A header that is not a well-formed Bearer is refused with that reason."""
    answer = Caller(live.url, "")("GET", LISTING, Authorization=header)

    answer.refused(401)
    assert answer.message == "Invalid authentication scheme"
    assert answer.headers["www-authenticate"] == "Bearer"


def test_scheme_word_is_case_insensitive(live, victim):
    """`bearer` is a Bearer."""
    caller = Caller(live.url, "")

    assert caller("GET", LISTING, Authorization=f"bEaReR   {victim.token} ").status == 200


def test_header_of_one_mb_is_refused(live):
    """A token of 1 MB is refused with an answer that the client can read."""
    answer = talk(
        live.url,
        f"GET {LISTING} HTTP/1.1\r\nHost:\r\nAuthorization: Bearer ".encode(),
        b"a" * 1_000_000,
        b"\r\n\r\n",
    )

    answer.refused(431, "65536")


def test_the_401_comes_before_everything_else(live):
    """Without a token the 401 comes first, so that nothing is revealed."""
    anonymous = Caller(live.url, "")
    shop = live.shop["id"]

    for answer in (
        anonymous.get(f"{LISTING}/{shop}"),
        anonymous.get(f"{LISTING}/999999"),
        anonymous("POST", "/v2/language/train", b"{", "application/json"),
        anonymous("POST", "/v2/language/intent", b"x", "text/plain"),
        anonymous.upload(b"a" * 1000),
        anonymous.delete(f"/v2/language/models/{live.model_id}"),
    ):
        answer.refused(401)
        assert answer.message == "Invalid authentication scheme"


def test_revoked_refresh_token_takes_its_access_tokens_along(live, victim):
    """After the revocation neither refreshes nor opens anything; a second one is a 404."""
    offline = live.grant(
        grant_type=JWT_BEARER, assertion=live.assertion(sub=EMAIL), scope="offline"
    ).ok()
    refresh = offline["refresh_token"]
    minted = live.grant(grant_type="refresh_token", refresh_token=refresh).ok()
    path = f"/v2/oauth2/tokens/{refresh}"

    live.stranger.delete(path).refused(404)
    assert victim.delete(path).status == 204
    victim.delete(path).refused(404)
    assert live.grant(grant_type="refresh_token", refresh_token=refresh).status == 401
    Caller(live.url, minted["access_token"]).get(LISTING).refused(401)
    assert Caller(live.url, offline["access_token"]).get(LISTING).status == 200


@pytest.mark.parametrize("token", ["x", "a.b.c", "%00", "%2e%2e", "A" * 9000, "%F0%9F%99%82"])
def test_revoking_what_is_no_token_is_a_404(victim, token):
    """What never was a refresh token is not found."""
    victim.delete(f"/v2/oauth2/tokens/{token}").refused(404)


def test_tokens_die_with_key_and_account(live):
    """A key reset, and closing the account, end every token at once."""
    for name in ("reset", "closed"):
        email = f"{name}@example.test"
        caller = live.caller(name)
        offline = live.grant(
            grant_type=JWT_BEARER, assertion=live.assertion(sub=email), scope="offline"
        ).ok()
        if name == "reset":
            live.administrate(lambda service, email=email: service.reset_key(email))
        else:
            live.administrate(lambda service, email=email: service.close(email))

        caller.get(LISTING).refused(401)
        refresh = offline["refresh_token"]
        assert live.grant(grant_type="refresh_token", refresh_token=refresh).status == 401
        again = live.grant(grant_type=JWT_BEARER, assertion=live.assertion(sub=email))
        assert again.refused(401) == "invalid_grant"
