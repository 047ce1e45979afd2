"""Tokens identify their account only, and end with the key or token they were issued for."""

from __future__ import annotations

from datetime import timedelta

import jwt
import pytest

from chalicelib.errors import InvalidGrant, InvalidParameter, InvalidToken, TokenNotFound
from chalicelib.formats.tokens.signed_token import ACCESS, TokenSigner
from chalicelib.stores.aws.tables import RefreshTokenRow
from tests.administration import public_half
from tests.quick_aws import keep_clients
from tests.services.accounts.token_world import DAY, EMAIL, World, encode


@pytest.fixture
def world(clients, clock, settings, private_pem, other_private_pem) -> World:
    """Two accounts with their keys."""
    return World(clients, clock, settings, private_pem, other_private_pem)


def test_tokens_are_jwts_of_their_kind(world):
    """Tokens are JWTs with HS256 and a type; only the access token expires."""
    granted = world.offline()
    key, name = world.settings.token_secret, world.settings.name

    access = jwt.decode_complete(
        granted.access_token, key, ["HS256"], {"verify_exp": False}, audience=name, issuer=name
    )
    refresh = jwt.decode_complete(
        granted.refresh_token, key, ["HS256"], {"verify_iat": False}, audience=name, issuer=name
    )

    assert access["header"]["typ"] == "at+jwt"
    assert refresh["header"]["typ"] == "refresh+jwt"
    assert access["payload"]["exp"] == world.now + 900
    assert "exp" not in refresh["payload"]
    assert granted.expires_in == 900


def _bad_tokens(world: World) -> dict[str, str]:
    """Return invalid tokens by what is wrong with them."""
    access, claims = world.grant().access_token, {"sub": "1", "exp": world.now + 9, "key": "k"}
    head, body, signature = access.split(".")
    unsigned_head = encode(b'{"alg":"none","typ":"at+jwt"}')
    foreign = TokenSigner(b"another key of thirty-two letters", world.settings.name)
    return {
        "empty": "",
        "a word": "hello",
        "two parts": f"{head}.{body}",
        "four parts": f"{access}.x",
        "too long": f"{head}.{body * 40}.{signature}",
        "not of ASCII": f"{head}.{body}.ä",
        "cut": access[:-3],
        "of another key": foreign.sign(ACCESS, claims),
        "not signed": f"{unsigned_head}.{body}.x",
    }


def test_bad_tokens_are_refused_before_any_table_is_read(world, clients):
    """Foreign and expired tokens are refused without reading or writing a row."""
    bad, granted = _bad_tokens(world), world.offline()
    stale = {
        "expired": world.sign(exp=world.now - 1),
        "from the future": world.sign(iat=world.now + DAY),
        "for another service": world.sign(aud="https://evil.test/v2/oauth2/token"),
    }
    calls: list[str] = []
    keep_clients()
    clients.dynamodb.meta.events.register(
        "before-call", lambda model, **_: calls.append(model.name)
    )

    for name, token in {**bad, "a refresh token": granted.refresh_token}.items():
        with pytest.raises(InvalidToken):
            world.tokens.find_caller(token)
        assert calls == [], name
    for name, token in {**bad, "an access token": granted.access_token}.items():
        with pytest.raises(InvalidGrant):
            world.tokens.grant_refresh(token)
        with pytest.raises(TokenNotFound):
            world.tokens.revoke(world.account, token)
        assert calls == [], name
    for name, assertion in {**bad, **stale}.items():
        with pytest.raises(InvalidGrant):
            world.tokens.grant_assertion(assertion)
        assert calls == [], name
    world.clock.advance(seconds=901)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.access_token)
    assert calls == []


def test_malformed_tokens_need_no_signing_key(world, monkeypatch):
    """Malformed tokens are refused without fetching the signing key, which is a billed call."""
    fetched: list[int] = []
    texts = ("", "hello", "a.b", "a.b.c.d", "a" * 3_000, "ä.b.c")
    monkeypatch.setattr(world.secrets, "signing_key", lambda: fetched.append(1) or b"key")

    for text in texts:
        with pytest.raises(InvalidToken):
            world.tokens.find_caller(text)

    assert fetched == []


def test_refresh_token_comes_with_the_offline_scope_only(world):
    """A refresh token is issued only if the scope requests it."""
    scopes = {None: False, "": False, "offline": True, "a offline": True, "offline_access": False}

    found = {s: world.tokens.grant_assertion(world.sign(), s).refresh_token for s in scopes}

    assert {scope: token is not None for scope, token in found.items()} == scopes


def test_access_token_ends_with_the_assertion(world):
    """The access token is valid until the end of the assertion, to the second."""
    world.clock.now += timedelta(milliseconds=400)
    granted = world.grant(exp=world.now + 10.9)

    assert granted.expires_in == 9
    world.clock.advance(seconds=9.5)
    assert world.tokens.find_caller(granted.access_token)
    world.clock.advance(seconds=0.2)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.access_token)


def test_kinds_are_not_interchangeable(world):
    """A refresh token cannot authenticate, and an access token cannot refresh or be revoked."""
    granted = world.offline()

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.refresh_token)
    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(granted.access_token)
    with pytest.raises(TokenNotFound):
        world.tokens.revoke(world.account, granted.access_token)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(world.sign())


def test_refresh_token_of_another_type_cannot_authenticate(world):
    """Swapping the header of a refresh token breaks its signature."""
    _, body, signature = world.offline().refresh_token.split(".")
    header = world.grant().access_token.split(".")[0]

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(f"{header}.{body}.{signature}")


@pytest.mark.parametrize("foreign", ["key", "issuer"])
def test_token_of_another_service_is_refused(world, foreign):
    """A token signed with another key, or by another service with the same key, is refused."""
    account = world.account
    claims = {"sub": account.account_id, "exp": world.now + 900, "key": account.keys[0].key_id}
    key = b"x" * 40 if foreign == "key" else world.secrets.signing_key()
    issuer = "elsewhere" if foreign == "issuer" else world.settings.name

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(TokenSigner(key, issuer).sign(ACCESS, claims))


def test_refreshed_token_lives_a_minute(world):
    """Without `valid_for`, the access token of a refresh token is valid for 60 seconds."""
    granted = world.tokens.grant_refresh(world.offline().refresh_token)

    assert (granted.expires_in, granted.refresh_token) == (60, None)
    world.clock.advance(seconds=59)
    assert world.tokens.find_caller(granted.access_token).account == world.account
    world.clock.advance(seconds=1)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.access_token)


def test_valid_for_sets_the_life(world):
    """A whole number of seconds up to 30 days, or its digits, sets the lifetime of the token."""
    refresh_token = world.offline().refresh_token

    for valid_for in (1, "1", 900, "0900", 30 * DAY, str(30 * DAY)):
        granted = world.tokens.grant_refresh(refresh_token, valid_for)
        assert granted.expires_in == int(valid_for)


ODD_LIVES = [0, "0", -1, "-1", "+1", "1.5", 1.5, 60.0, "", " 60", "sixty", "٦٠", "1_0", "1e3"]
ODD_LIVES += [True, False, 30 * DAY + 1, str(30 * DAY + 1), "9" * 5000, 10**5000, [60], {}]


def test_other_valid_for_is_a_bad_request(world):
    """Anything else is a 400 that names the field and the limit."""
    refresh_token = world.offline().refresh_token

    for valid_for in ODD_LIVES:
        with pytest.raises(InvalidParameter, match=r"valid_for.*2592000"):
            world.tokens.grant_refresh(refresh_token, valid_for)


def test_reset_ends_all_tokens_of_the_old_key(world):
    """After a reset neither old assertions nor old tokens work; the new key does."""
    old, refreshed = world.offline(), world.offline()
    minted = world.tokens.grant_refresh(refreshed.refresh_token, 900)

    world.accounts.reset_key(EMAIL, public_pem=public_half(world.other_private_pem))

    for token in (old.access_token, minted.access_token):
        with pytest.raises(InvalidToken):
            world.tokens.find_caller(token)
    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(old.refresh_token)
    with pytest.raises(InvalidGrant):
        world.grant()
    assert list(RefreshTokenRow.scan()) == []
    assert world.tokens.find_caller(world.grant(private_pem=world.other_private_pem).access_token)


def test_old_key_lives_through_the_overlap(world):
    """During the overlap both keys work; afterwards the old key and its tokens are invalid."""
    old = world.offline()
    new_pem = public_half(world.other_private_pem)
    world.accounts.reset_key(EMAIL, overlap_seconds=600, public_pem=new_pem)
    new = world.grant(private_pem=world.other_private_pem)
    minted = world.tokens.grant_refresh(old.refresh_token, 900)

    world.clock.advance(seconds=599)
    for granted in (old, new, minted, world.grant()):
        assert world.tokens.find_caller(granted.access_token).account.account_id == "1"

    world.clock.advance(seconds=1)
    assert world.tokens.find_caller(new.access_token)
    for granted in (old, minted):
        with pytest.raises(InvalidToken):
            world.tokens.find_caller(granted.access_token)
    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(old.refresh_token)
    with pytest.raises(InvalidGrant):
        world.grant()


def test_second_reset_ends_an_overlap(world):
    """A reset without overlap also ends a key that is in the overlap of an earlier reset."""
    old = world.grant()
    world.accounts.reset_key(EMAIL, 600, public_half(world.other_private_pem))
    world.accounts.reset_key(EMAIL, 0, public_half(world.other_private_pem))

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(old.access_token)


def test_closed_account_has_no_tokens(world):
    """Closing an account ends its tokens at once, and no more are issued."""
    granted = world.offline()

    world.accounts.close(EMAIL)

    with pytest.raises(InvalidToken):
        world.tokens.find_caller(granted.access_token)
    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(granted.refresh_token)
    with pytest.raises(InvalidGrant):
        world.grant()
    with pytest.raises(InvalidGrant):
        world.grant(sub="1")


def test_revoked_refresh_token_takes_its_access_tokens_along(world):
    """Revoking ends the refresh token and the access tokens issued for it, and nothing else."""
    granted, kept = world.offline(), world.offline()
    minted = world.tokens.grant_refresh(granted.refresh_token, 900)
    others = world.tokens.grant_refresh(kept.refresh_token, 900)

    world.tokens.revoke(world.account, granted.refresh_token)

    with pytest.raises(InvalidGrant):
        world.tokens.grant_refresh(granted.refresh_token)
    with pytest.raises(InvalidToken):
        world.tokens.find_caller(minted.access_token)
    for living in (granted, others):
        assert world.tokens.find_caller(living.access_token)
    with pytest.raises(TokenNotFound):
        world.tokens.revoke(world.account, granted.refresh_token)


def test_foreign_refresh_token_is_not_revoked(world):
    """The refresh token of another account gets the answer of an unknown one, and stays valid."""
    granted = world.offline()

    with pytest.raises(TokenNotFound):
        world.tokens.revoke(world.other, granted.refresh_token)

    assert world.tokens.grant_refresh(granted.refresh_token)


def test_each_key_of_the_overlap_is_tried(world):
    """An assertion is accepted with any valid key of the account."""
    world.accounts.reset_key(EMAIL, 600, public_half(world.other_private_pem))

    assert world.grant()
    assert world.grant(private_pem=world.other_private_pem)


def test_authenticate_reads_in_one_trip(world, monkeypatch, clients):
    """Authentication makes one consistent read, also with a token issued for a refresh token."""
    granted = world.offline()
    minted = world.tokens.grant_refresh(granted.refresh_token)
    calls, call = [], clients.dynamodb._make_api_call

    def count(name, request):
        """Record the call and make it."""
        reads = request.get("RequestItems", {"": request}).values()
        calls.append((name, [read["ConsistentRead"] for read in reads]))
        return call(name, request)

    monkeypatch.setattr(clients.dynamodb, "_make_api_call", count)
    world.tokens.find_caller(granted.access_token)
    assert calls == [("GetItem", [True])]
    world.tokens.find_caller(minted.access_token)
    assert calls[1:] == [("BatchGetItem", [True, True])]
