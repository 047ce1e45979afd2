"""The life of tokens: assertion, refresh, revocation."""

from __future__ import annotations

import time

import pytest

from infra.accounts import GRANT_TYPE
from tests.flows.client import Client
from tests.flows.world import TOKEN, assertion

USAGE = "/v2/apiusage"


@pytest.fixture
def anonymous(stack):
    """A caller without token."""
    with Client(stack.url) as made:
        yield made


def refreshed(client, refresh_token, **fields):
    """Request an access token with a refresh token."""
    return client.form(
        TOKEN, {"grant_type": "refresh_token", "refresh_token": refresh_token, **fields}
    )


def holder(url, token):
    """Return a caller with a given token."""
    return Client(url, token)


def status(url, token):
    """Return the status of a call with a token."""
    with holder(url, token) as caller:
        return caller.get(USAGE).status


def test_offline_scope_gives_a_refresh_token(world, stack, client, anonymous):
    """A refresh token gives access tokens of the requested lifetime; it cannot authenticate."""
    answer = world.ask_token(anonymous, client.email, scope="offline").ok
    again = refreshed(anonymous, answer["refresh_token"], valid_for=120).ok

    assert set(answer) == {"access_token", "refresh_token", "token_type", "expires_in"}
    assert set(again) == {"access_token", "token_type", "expires_in"}
    assert (again["token_type"], again["expires_in"]) == ("Bearer", 120)
    assert status(stack.url, again["access_token"]) == 200
    assert status(stack.url, answer["refresh_token"]) == 401


def test_revoked_refresh_token_takes_its_access_tokens_along(world, stack, client, anonymous):
    """Revoking a refresh token also ends the access tokens issued for it."""
    kept = world.ask_token(anonymous, client.email, scope="offline").ok
    lost = world.ask_token(anonymous, client.email, scope="offline").ok
    minted = refreshed(anonymous, lost["refresh_token"]).ok["access_token"]
    before = status(stack.url, minted)
    path = f"/v2/oauth2/tokens/{lost['refresh_token']}"
    revoked = client.delete(path)

    assert (revoked.status, revoked.body) == (204, b"")
    assert (before, status(stack.url, minted)) == (200, 401)
    assert refreshed(anonymous, lost["refresh_token"]).status == 401
    assert refreshed(anonymous, kept["refresh_token"]).status == 200
    assert client.delete(path).status == 404


def test_another_account_cannot_revoke(world, client, anonymous):
    """Another account's refresh token gets the answer of an unknown one."""
    other = world.caller()
    token = world.ask_token(anonymous, client.email, scope="offline").ok["refresh_token"]

    assert other.delete(f"/v2/oauth2/tokens/{token}").status == 404
    assert refreshed(anonymous, token).status == 200


def test_reset_key_kills_every_token(world, stack, client, anonymous):
    """A key reset ends access tokens, refresh tokens and the old key at once."""
    answer = world.ask_token(anonymous, client.email, scope="offline").ok
    minted = refreshed(anonymous, answer["refresh_token"]).ok["access_token"]
    new = world.accounts.reset_key(client.email).private_pem

    assert [status(stack.url, token) for token in (client.token, minted)] == [401, 401]
    assert refreshed(anonymous, answer["refresh_token"]).status == 401
    assert world.ask_token(anonymous, client.email).status == 401
    signed = assertion(client.email, new)
    fresh = anonymous.form(TOKEN, {"grant_type": GRANT_TYPE, "assertion": signed}).ok
    assert status(stack.url, fresh["access_token"]) == 200


def test_closing_kills_every_token(world, stack, client, anonymous):
    """A closed account has no valid token and gets none."""
    answer = world.ask_token(anonymous, client.email, scope="offline").ok
    world.accounts.close(client.email)

    assert status(stack.url, client.token) == 401
    assert refreshed(anonymous, answer["refresh_token"]).status == 401
    assert world.ask_token(anonymous, client.email).status == 401


def test_refusals_of_the_endpoint_look_alike(world, client, anonymous):
    """An unknown subject, a wrong audience, expiry and a forged signature give the same body."""
    bad = [
        assertion("unknown@flows.example", world.private_pem),
        assertion(client.email, world.private_pem, aud="https://elsewhere.example/v2/token"),
        assertion(client.email, world.private_pem, exp=time.time() - 3600),
        assertion(client.email, world.private_pem)[:-8] + "AAAAAAAA",
        "no token at all",
    ]
    answers = [anonymous.form(TOKEN, {"grant_type": GRANT_TYPE, "assertion": one}) for one in bad]

    assert [answer.status for answer in answers] == [401] * len(bad)
    assert len({answer.body for answer in answers}) == 1


def test_every_alias_and_body_gives_a_token(world, client, anonymous):
    """The token endpoint answers at all its paths, to form, JSON and multipart."""
    fields = {"grant_type": GRANT_TYPE}
    for path in ("/oauth2/token", "/v1/oauth2/token", TOKEN, f"{TOKEN}/"):
        fields["assertion"] = assertion(client.email, world.private_pem)
        assert anonymous.form(path, fields).status == 200
        assert anonymous.json("POST", path, fields).status == 200
        assert anonymous.multipart("POST", path, fields).status == 200


@pytest.mark.parametrize("header", [None, "", "Basic abc", "Bearer", "Bearer "])
def test_missing_scheme_and_bad_token_differ(anonymous, header):
    """A request without a well-formed Bearer header is a 401 that says so."""
    headers = {} if header is None else {"Authorization": header}
    answer = anonymous.send("GET", USAGE, None, headers)

    assert answer.status == 401
    assert answer.data["message"] == "Invalid authentication scheme"


def test_bearer_is_read_in_any_case(client):
    """The scheme is case-insensitive; an invented token is refused."""
    with Client(client.url) as plain:
        for word in ("bearer", "BEARER"):
            sent = {"Authorization": f"{word} {client.token}"}
            assert plain.send("GET", USAGE, None, sent).status == 200
        made_up = plain.send("GET", USAGE, None, {"Authorization": "Bearer x.y.z"})
    assert made_up.status == 401
    assert made_up.data["message"] == "Invalid access token"
