"""The token endpoint: grants, aliases, content types, revocation."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("url", ["/v2/oauth2/token", "/v1/oauth2/token", "/oauth2/token"])
def test_assertion_is_exchanged(call, world, url):
    """All three paths return exactly the documented members and forbid caching."""
    body = urlencode({"grant_type": JWT, "assertion": world.assertion()}).encode()

    answer = call("POST", url, body, FORM, authorization="")

    assert list(answer.json) == ["access_token", "token_type", "expires_in"]
    assert answer.headers["Cache-Control"] == "no-store"
    bearer = f"Bearer {answer.json['access_token']}"
    assert call("GET", "/v2/apiusage", authorization=bearer).status == 200


def test_the_gateways_own_host_is_handed_on(call, world, event):
    """The host reported by the gateway is a valid audience; the caller's Host header is not."""
    own = "a1b2c3.execute-api.eu-central-1.amazonaws.com"
    assertion = world.assertion(aud=f"https://{own}/v2/oauth2/token")
    body = urlencode({"grant_type": JWT, "assertion": assertion}).encode()
    sent = event("POST", "/v2/oauth2/token", body, FORM, host="evil.example")
    assert call.send(sent).status == 401
    sent["requestContext"]["domainName"] = own

    assert call.send(sent).status == 200
    other = world.assertion(aud="https://evil.example/v2/oauth2/token")
    refused = urlencode({"grant_type": JWT, "assertion": other}).encode()
    assert call("POST", "/v2/oauth2/token", refused, FORM, host="evil.example").status == 401


def test_offline_scope_adds_a_refresh_token(call, world):
    """`refresh_token` is only returned with scope=offline."""
    answer = call.json(
        "POST", "/v2/oauth2/token", grant_type=JWT, assertion=world.assertion(), scope="offline"
    )

    assert answer.json["refresh_token"]
    plain = call.json("POST", "/v2/oauth2/token", grant_type=JWT, assertion=world.assertion())
    assert "refresh_token" not in plain.json


@pytest.mark.parametrize("valid_for", ["30", 30])
def test_refresh_token_is_exchanged(call, world, valid_for):
    """The refresh grant accepts the refresh token and the requested seconds."""
    answer = call.json(
        "POST",
        "/v2/oauth2/token",
        grant_type="refresh_token",
        refresh_token=world.refresh_token(),
        valid_for=valid_for,
    )

    assert (answer.status, answer.json["expires_in"]) == (200, 30)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "The 'grant_type' parameter is required."),
        ({"grant_type": "password"}, "The 'grant_type' parameter is not valid"),
        ({"grant_type": JWT}, "The 'assertion' parameter is required."),
        ({"grant_type": "refresh_token"}, "The 'refresh_token' parameter is required."),
        ({"grant_type": JWT, "assertion": 5}, "The 'assertion' parameter is not valid"),
    ],
)
def test_missing_fields_are_400(call, fields, text):
    """Missing and unknown fields are named in the error."""
    answer = call.json("POST", "/v2/oauth2/token", **fields)

    assert answer.status == 400
    assert text in answer.json["message"]


def test_other_content_types_are_415(call):
    """Other content types are a 415 that lists the three supported ones."""
    answer = call("POST", "/v2/oauth2/token", b"x", "text/plain")

    assert answer.status == 415
    assert FORM in answer.json["message"]


@pytest.mark.parametrize("body", [b"grant_type=%ff", b"\xff=1", b"&".join([b"a=1"] * 101)])
def test_broken_forms_are_400(call, body):
    """A form that is not text, or has too many fields, is refused."""
    assert call("POST", "/v2/oauth2/token", body, FORM).status == 400


@pytest.mark.parametrize("word", ["token", "tokens"])
def test_refresh_token_is_revoked(call, world, word):
    """A valid refresh token is revoked with an empty answer; an unknown one is a 404."""
    done = call("DELETE", f"/v2/oauth2/{word}/{world.refresh_token()}")

    assert (done.status, done.text) == (204, "")
    assert call("DELETE", f"/v2/oauth2/{word}/unknown").status == 404
