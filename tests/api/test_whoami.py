"""GET /v2/whoami: the account that a token belongs to. beyond.md, section 11."""

from __future__ import annotations

from tests.api.prepared import EXAMPLES, PREDICTIONS


def test_the_account_of_the_token_is_shown(call, world):
    """The record has exactly the documented members, and the call is not counted."""
    before = world.used(PREDICTIONS)

    assert call("GET", "/v2/whoami").json == {
        "id": world.account.account_id,
        "email": "a@example.test",
        "plan": "STARTER",
        "scope": "all",
        "object": "account",
    }
    assert (world.used(PREDICTIONS), world.used(EXAMPLES)) == (before, 0)


def test_two_tokens_are_two_accounts(call, world):
    """Each token returns its own account; a missing or invalid token is a 401."""
    other, token = world.sign_up("b@example.test")

    found = call("GET", "/v2/whoami", authorization=f"Bearer {token}").json
    assert (found["id"], found["email"]) == (other.account_id, "b@example.test")
    for wrong in ("", "Bearer nonsense"):
        assert call("GET", "/v2/whoami", authorization=wrong).status == 401


def test_it_is_not_below_v1(call):
    """The call whoami does not exist below /v1."""
    assert call("GET", "/v1/whoami").status == 404
