"""API keys over HTTP: scopes, expiry and revocation. beyond.md, section 11."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

import app as module
from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.api_key import ALL, MAX_KEYS, NO_KEY, PREDICT, digest_of
from chalicelib.errors import RateExceeded
from chalicelib.routes import OPERATIONS
from chalicelib.stores.aws.tables import ApiKeyRow
from tests.api.prepared import MODEL_ID, PREDICTIONS

KEYS, WHOAMI = "/v2/keys", "/v2/whoami"
UNKNOWN = "pk_" + "A" * 43
PREDICTING = {
    "predict_intent",
    "predict_sentiment",
    "predict_image",
    "detect_objects",
    "run_ocr",
    "get_metrics",
    "list_usage",
    "whoami",
}
PERSONAL = {"create_key", "list_keys", "delete_key", "revoke_token"}
PRIVATE = [operation for operation in OPERATIONS if not operation.is_public]
ROUTES = [
    pytest.param(method, re.sub(r"\{\w+\}", "A" * 26, path), operation, id=f"{method} {path}")
    for operation in PRIVATE
    for _, path in operation.served_paths()
    for method in operation.methods
]


@pytest.fixture
def trips(world) -> Iterator[list[str]]:
    """Record the calls of DynamoDB in order."""
    made: list[str] = []

    def note(model: Any, **_: Any) -> None:
        """Record one call."""
        made.append(model.name)

    events = world.container.stores.clients.dynamodb.meta.events
    events.register("before-call", note)
    yield made
    events.unregister("before-call", note)


def create(call: Any, **fields: Any) -> dict[str, Any]:
    """Create a key."""
    answer = call.json("POST", KEYS, **{"name": "shop", **fields})
    assert answer.status == 200, answer.text
    return dict(answer.json)


def whoami(call: Any, secret: str) -> Any:
    """Call whoami with a key."""
    return call("GET", WHOAMI, authorization=f"Bearer {secret}")


def test_key_is_created_listed_and_deleted(call, world):
    """The record has exactly the documented members, and the secret is returned once."""
    made = create(call)
    secret = made.pop("secret")

    assert re.fullmatch(r"pk_[A-Za-z0-9_-]{43}", secret)
    assert made == {
        "id": made["id"],
        "name": "shop",
        "scope": "all",
        "prefix": secret[:8],
        "createdAt": "2026-11-30T23:59:00.000+0000",
        "expiresAt": None,
        "lastUsedAt": None,
        "object": "key",
    }
    assert call("GET", KEYS).json == {"object": "list", "data": [made]}
    answer = call("DELETE", f"{KEYS}/{made['id']}")
    assert (answer.status, answer.json) == (200, made)
    assert call("GET", KEYS).json["data"] == []
    assert call("DELETE", f"{KEYS}/{made['id']}").status == 404
    assert list(ApiKeyRow.scan(filter_condition=ApiKeyRow.target.exists())) == []


def test_keys_are_listed_by_creation(call, world):
    """Keys are listed in the order of their creation."""
    made = []
    for name in "cab":
        made.append(create(call, name=name)["id"])
        world.clock.now += timedelta(seconds=1)

    assert [key["id"] for key in call("GET", KEYS).json["data"]] == made


def test_key_signs_in_and_its_use_is_noted_once_a_day(call, world):
    """The first use on a day is recorded; later uses on that day write nothing."""
    secret = create(call)["secret"]
    used = []
    for hours in (0, 23, 2):
        world.clock.now += timedelta(hours=hours)
        assert whoami(call, secret).json["id"] == world.account.account_id
        call.token = world.container.tokens.grant_assertion(world.assertion()).access_token
        used.append(call("GET", KEYS).json["data"][0]["lastUsedAt"])

    assert used == [
        "2026-11-30T23:59:00.000+0000",
        "2026-11-30T23:59:00.000+0000",
        "2026-12-02T00:59:00.000+0000",
    ]


@pytest.mark.parametrize("scope", [ALL, PREDICT])
def test_whoami_shows_the_scope(call, scope):
    """The call whoami returns the scope of a key."""
    assert whoami(call, create(call, scope=scope)["secret"]).json["scope"] == scope


def test_operations_of_each_scope_are_the_documented_ones():
    """The operations that `predict` allows, and those that no key may call, match the contract."""
    found = {
        scope: {operation.name for operation in PRIVATE if operation.key_scope == scope}
        for scope in (PREDICT, NO_KEY)
    }

    assert found == {PREDICT: PREDICTING, NO_KEY: PERSONAL}


@pytest.mark.parametrize(("method", "url", "operation"), ROUTES)
def test_every_route_checks_the_scope(call, method, url, operation):
    """Outside its scope a key gets a 403 before any 404; inside it never gets a 403."""
    for scope in (ALL, PREDICT):
        secret = create(call, scope=scope)["secret"]
        allowed = {PREDICT} if scope == PREDICT else {PREDICT, ALL}

        answer = call(method, url, authorization=f"Bearer {secret}")

        assert (answer.status == 403) == (operation.key_scope not in allowed), answer.text
        assert answer.status != 401
        if answer.status == 403 and method != "HEAD":
            assert answer.json["code"] == "insufficient_scope"


def test_stored_answer_is_not_repeated_outside_of_the_scope(call):
    """A key with a smaller scope cannot read a stored answer through an idempotency key."""
    secret = create(call, scope=PREDICT)["secret"]
    body, kind = b'{"name": "n", "type": "text-intent"}', "application/json"
    sent = {"idempotency_key": "once"}
    first = call("POST", "/v2/language/datasets", body, kind, **sent)
    assert first.status == 200

    again = call(
        "POST", "/v2/language/datasets", body, kind, authorization=f"Bearer {secret}", **sent
    )

    assert again.status == 403


@pytest.mark.parametrize(
    "secret", ["pk_", "pk_short", UNKNOWN + "A", "pk_" + "A" * 42 + ".", "pk_" + "A" * 42 + "~"]
)
def test_malformed_key_reads_no_row(call, trips, secret):
    """A malformed key is the same 401 as a bad token, without a DynamoDB call."""
    answer = whoami(call, secret)

    assert (answer.status, answer.text) == (401, whoami(call, "nonsense").text)
    assert trips == []


def test_unknown_key_costs_one_read(call, trips):
    """A well-formed unknown key costs one read and no further ones."""
    answer = whoami(call, UNKNOWN)

    assert (answer.status, answer.text) == (401, whoami(call, "nonsense").text)
    assert trips == ["GetItem"]


def test_key_costs_no_more_trips_than_a_token(call, trips):
    """A cached key is verified together with account and model in one DynamoDB call."""
    secret = create(call, scope=PREDICT)["secret"]
    sent = b'{"modelId": "%b", "document": "delivery please"}' % MODEL_ID.encode()
    url, kind = "/v2/language/intent", "application/json"
    assert call("POST", url, sent, kind, authorization=f"Bearer {secret}").status == 200
    trips.clear()

    assert call("POST", url, sent, kind, authorization=f"Bearer {secret}").status == 200

    assert trips == ["BatchGetItem"]


def test_token_reads_no_key(call, trips):
    """An access token reads one row and no key."""
    assert call("GET", WHOAMI).status == 200
    assert trips == ["GetItem"]


def test_predictions_of_a_key_are_those_of_the_account(call, world):
    """The quota belongs to the account."""
    secret, used = create(call, scope=PREDICT)["secret"], world.used(PREDICTIONS)

    answer = call(
        "POST",
        "/v2/language/intent",
        b'{"modelId": "%b", "document": "delivery please"}' % MODEL_ID.encode(),
        "application/json",
        authorization=f"Bearer {secret}",
    )

    assert answer.status == 200
    assert world.used(PREDICTIONS) == used + 1


def test_expired_key_is_refused(call, world):
    """An expired key is the same 401 as a bad token; it stays in the list."""
    secret = create(call, expiresAt="2026-12-01T01:00:00+01:00")["secret"]
    world.clock.now += timedelta(seconds=59)
    assert whoami(call, secret).status == 200
    world.clock.now += timedelta(seconds=1)

    assert whoami(call, secret).status == 401
    listed = call("GET", KEYS).json["data"]
    assert [key["expiresAt"] for key in listed] == ["2026-12-01T00:00:00.000+0000"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "name"),
        ({"name": ""}, "required"),
        ({"name": " "}, "required"),
        ({"name": "a\nb"}, "control"),
        ({"name": "a" * 65}, "got 65"),
        ({"name": 7}, "a text"),
        ({"name": "a", "scope": "read"}, "not one of all, predict"),
        ({"name": "a", "expiresAt": "tomorrow"}, "ISO 8601"),
        ({"name": "a", "expiresAt": 1}, "a text"),
        ({"name": "a", "expiresAt": "2026-11-30T23:59:00Z"}, "is in the past"),
        ({"name": "a", "expiresAt": "2026-12-01T00:59:00+01:00"}, "is in the past"),
        ({"name": "a", "expiresAt": "9999-12-31T23:59:59-23:00"}, "ISO 8601"),
        ({"name": "a", "expiresAt": "0001-01-01T00:00:00+10:00"}, "ISO 8601"),
    ],
)
def test_wrong_fields_are_refused(call, fields, text):
    """Invalid fields are refused with their name and the allowed values; nothing is stored."""
    answer = call.json("POST", KEYS, **fields)

    assert answer.status == 400
    assert text in answer.json["message"]
    assert call("GET", KEYS).json["data"] == []


def test_form_creates_a_key_too(call):
    """Keys can be created with a form as well as with JSON."""
    answer = call.form("POST", KEYS, ("name", b"caf\xc3\xa9", None), ("scope", b"predict", None))

    assert (answer.json["name"], answer.json["scope"]) == ("café", "predict")


def test_account_has_at_most_twenty_keys(call):
    """The 21st key is refused with the limit; keys of other accounts do not count."""
    made = [create(call) for _ in range(MAX_KEYS)]

    answer = call.json("POST", KEYS, name="one more")

    assert (answer.status, answer.json["code"]) == (400, "too_many_keys")
    assert "20" in answer.json["message"]
    call("DELETE", f"{KEYS}/{made[3]['id']}")
    create(call)


def test_key_of_another_account_is_unknown(call, world):
    """The id of another account's key is the same 404 as an id that does not exist."""
    made = create(call)
    _, token = world.sign_up("b@example.test")
    own = call.token
    call.token = token

    foreign = call("DELETE", f"{KEYS}/{made['id']}")

    assert (foreign.status, call("GET", KEYS).json["data"]) == (404, [])
    unknown = call("DELETE", f"{KEYS}/{'A' * 26}").text
    assert foreign.text.replace(made["id"], "A" * 26) == unknown
    assert call("DELETE", f"{KEYS}/..").status == 404
    call.token = own
    assert whoami(call, made["secret"]).status == 200


def test_revoked_key_is_refused_in_every_process(call, world):
    """A revoked key fails on the next call, also in a process that has it cached."""
    made = create(call)
    other = Container(world.settings, world.clock)
    assert whoami(call, made["secret"]).status == 200
    assert other.api_keys.find_caller(made["secret"]).account == world.account

    assert call("DELETE", f"{KEYS}/{made['id']}").status == 200

    assert whoami(call, made["secret"]).status == 401
    module.app.container = other
    assert whoami(call, made["secret"]).status == 401


def test_closed_account_has_no_keys(call, world):
    """Closing an account ends its keys and deletes their rows."""
    secret = create(call)["secret"]
    assert whoami(call, secret).status == 200

    world.accounts().close("a@example.test")

    assert whoami(call, secret).status == 401
    assert list(ApiKeyRow.scan()) == []


def test_new_key_file_leaves_api_keys_alive_unless_they_are_revoked(call, world):
    """Replacing the private key ends tokens; API keys end only on request."""
    secret = create(call)["secret"]
    world.accounts().reset_key("a@example.test")
    assert call("GET", WHOAMI).status == 401
    assert whoami(call, secret).status == 200

    world.accounts().revoke_keys("a@example.test")

    assert whoami(call, secret).status == 401


def test_repeated_creation_returns_the_same_secret(call):
    """Repeating a creation with the same idempotency key returns the same secret."""
    body, kind = b'{"name": "n"}', "application/json"
    first = call("POST", KEYS, body, kind, idempotency_key="k")
    again = call("POST", KEYS, body, kind, idempotency_key="k")

    assert (first.status, again.json) == (200, first.json)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(call("GET", KEYS).json["data"]) == 1


def test_interrupted_creation_leaves_one_key(call, world, monkeypatch):
    """A retry of an interrupted creation replaces the key that the first attempt stored."""
    keys = world.container.stores.api_keys
    body, kind = b'{"name": "n"}', "application/json"
    add, lost = keys.add, []

    def die(key: Any) -> None:
        """Store the key, and die before the answer is sent."""
        add(key)
        lost.append(key)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(keys, "add", die)
        with pytest.raises(SystemExit):
            call("POST", KEYS, body, kind, idempotency_key="k")
    world.clock.now += timedelta(minutes=5)

    made = call("POST", KEYS, body, kind, idempotency_key="k").json

    assert [key["id"] for key in call("GET", KEYS).json["data"]] == [made["id"]]
    assert whoami(call, made["secret"]).status == 200
    assert made["id"] == lost[0].key_id
    assert keys.find_account(lost[0].digest) is None


def test_only_the_digest_is_stored(call, world):
    """No row and no object holds the secret in the clear."""
    secret = create(call)["secret"]
    whoami(call, secret)
    clients = world.stores.clients
    names = clients.dynamodb.list_tables()["TableNames"]
    rows = str([clients.dynamodb.scan(TableName=name)["Items"] for name in names])

    assert digest_of(secret) in rows
    assert secret[8:] not in rows
    assert all(secret[8:].encode() not in content for content in world.contents(""))


def test_stored_answer_holds_no_readable_secret(call, world):
    """The answer stored for an idempotency key is encrypted."""
    secret = call("POST", KEYS, b'{"name": "n"}', "application/json", idempotency_key="k").json[
        "secret"
    ]
    clients = world.stores.clients
    names = clients.dynamodb.list_tables()["TableNames"]

    assert secret[8:] not in str([clients.dynamodb.scan(TableName=name) for name in names])


def test_errors_and_log_lines_show_no_key(call, caplog):
    """A key sent in the wrong place is neither echoed to the caller nor logged."""
    caplog.set_level("DEBUG")
    secret = create(call)["secret"]
    body = json.dumps({"name": "n", "scope": secret, "modelId": secret, "type": secret}).encode()
    kind, answers = "application/json", []
    for method, path in (
        ("GET", WHOAMI),
        ("DELETE", f"{KEYS}/{secret}"),
        ("GET", f"/v2/language/models/{secret}"),
        ("GET", f"/v2/language/datasets/{secret}"),
        ("GET", f"/v2/{secret}"),
        ("GET", f"/v2/language/datasets?status={secret}"),
        ("POST", KEYS),
        ("POST", "/v2/language/intent"),
        ("POST", "/v2/language/datasets"),
    ):
        sent = (body, kind) if method == "POST" else ()
        answers.append(call(method, path, *sent))
        answers.append(call(method, path, *sent, authorization=f"Bearer {secret}"))
        answers.append(call(method, path, *sent, idempotency_key=secret))

    assert {answer.status for answer in answers} >= {200, 400, 403, 404}
    assert [answer.text for answer in answers if secret in answer.text] == []
    assert secret not in caplog.text
    assert "request" in caplog.text


def test_key_works_while_its_use_cannot_be_noted(call, world, monkeypatch, storage_down):
    """A key works even if its use cannot be recorded."""
    secret = create(call)["secret"]

    def fail(*_: Any) -> None:
        """Fail."""
        raise storage_down

    monkeypatch.setattr(world.container.stores.api_keys, "note_use", fail)

    assert whoami(call, secret).status == 200


def test_unreadable_keys_are_a_503(call, world, monkeypatch, storage_down):
    """If a key cannot be looked up, the answer is a 503 and not a 401."""

    def fail(*_: Any) -> None:
        """Fail."""
        raise storage_down

    monkeypatch.setattr(world.container.stores.api_keys, "find_account", fail)

    assert whoami(call, UNKNOWN).status == 503


def test_key_of_a_closed_account_is_refused_even_if_its_rows_remain(call, world):
    """A key of a closed account is refused even if its row was left behind."""
    secret = create(call)["secret"]
    world.stores.accounts.close(world.account.account_id, world.clock.now + timedelta(days=1))

    assert whoami(call, secret).status == 401


def test_rates_of_a_key_are_those_of_the_account(call, world, monkeypatch):
    """Two keys share the rate; it is checked before the scope, so that refusals are not free."""
    secrets = [create(call, scope=scope)["secret"] for scope in (ALL, PREDICT)]
    drawn: list[tuple[str, str]] = []
    rates = world.container.rates

    def check(account: Account, cost: str) -> None:
        """Allow two calls."""
        drawn.append((account.account_id, cost))
        if len(drawn) > 2:
            raise RateExceeded("too many", 1)

    monkeypatch.setattr(rates, "check", check)
    answers = [
        call("GET", "/v2/language/datasets", authorization=f"Bearer {secret}").status
        for secret in (*secrets, *secrets)
    ]

    assert answers == [200, 403, 429, 429]
    assert drawn == [(world.account.account_id, "records")] * 4


def test_bad_keys_use_up_no_rate(call, monkeypatch, world):
    """Invalid keys do not use up the account's rate."""
    monkeypatch.setattr(world.container.rates, "check", None)

    assert {whoami(call, f"pk_{number:043d}").status for number in range(20)} == {401}


def test_sweep_deletes_the_keys_of_a_closed_account(call, world):
    """The sweep deletes key rows that a crashed process left for a closed account."""
    account, _ = world.sign_up("b@example.test")
    world.container.api_keys.create(account, "left")
    mine = create(call)
    world.stores.accounts.close(account.account_id, world.clock.now)

    world.container.sweeping.run()

    assert world.stores.accounts.get(account.account_id) is None
    owners = {row.target or row.lookup for row in ApiKeyRow.scan()}
    assert owners == {world.account.account_id}
    assert whoami(call, mine["secret"]).status == 200
