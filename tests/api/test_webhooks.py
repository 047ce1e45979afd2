"""Webhooks through the gateway, and what receivers get. beyond.md, section 6."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import standardwebhooks

from chalicelib.domain.jobs import webhook
from chalicelib.domain.jobs.webhook import EVENTS
from chalicelib.stores.aws.tables import AccountRow
from chalicelib.stores.fetching.downloads import Downloader
from tests.api.conftest import Caller
from tests.api.prepared import DATASET_ID, MODEL_ID, PREDICTIONS
from tests.local.wire import wait_until
from tests.receiver import Receiver

HOOKS = "/v2/webhooks"
DATASETS = "/v2/language/datasets"
CSV = b"".join(b"where is parcel %d,delivery\nmoney back %d,refund\n" % (n, n) for n in range(3))


# One label more than a dataset may have.
MANY_LABELS = b"".join(b"text %d,label %d\n" % (n, n) for n in range(1_001))


@pytest.fixture
def receiver(world: Any) -> Iterator[Receiver]:
    """A customer's server, which the allow-list permits."""
    made = Receiver()
    allowed = (*world.settings.download_allow, f"127.0.0.1:{made.port}")
    downloads = Downloader(allowed)
    for service in (world.container.webhooks, world.container.deliveries):
        service._downloads = downloads
    yield made
    made.close()


def hook(call: Any, receiver: Receiver, *events: str, **fields: Any) -> dict[str, Any]:
    """Create a webhook."""
    answer = call.json("POST", HOOKS, url=receiver.url, events=[*(events or EVENTS)], **fields)
    assert answer.status == 200, answer.text
    return dict(answer.json)


def upload(call: Any, content: bytes = CSV) -> int:
    """Upload a file that is read synchronously."""
    parts = ("type", b"text-intent", None), ("data", content, "t.csv")
    return int(call.form("POST", f"{DATASETS}/upload/sync", *parts).json["id"])


def bodies(receiver: Receiver) -> list[dict[str, Any]]:
    """Return the decoded bodies that the receiver got."""
    return [json.loads(one.body) for one in receiver.received]


def deliveries(call: Any, made: dict[str, Any]) -> list[dict[str, Any]]:
    """List the deliveries of a webhook."""
    return list(call("GET", f"{HOOKS}/{made['id']}/deliveries").json["data"])


def pass_time(call: Any, world: Any, minutes: float, step: float = 1) -> None:
    """Advance the clock in steps, and run the sweep and the workers after each."""
    end = world.clock.now + timedelta(minutes=minutes)
    while world.clock.now < end:
        world.clock.now = min(end, world.clock.now + timedelta(minutes=step))
        world.container.sweeping.run()
        world.work()
    call.token = world.container.tokens.grant_assertion(world.assertion()).access_token


def test_a_webhook_is_made_shown_changed_and_deleted(call, receiver):
    """The secret is shown only at creation; the list keeps the order."""
    made = hook(call, receiver, "dataset.ready", description="shop")
    assert made.pop("secret").startswith("whsec_")
    assert (made["status"], made["description"], made["object"]) == ("ENABLED", "shop", "webhook")
    second = hook(call, receiver)
    one = f"{HOOKS}/{made['id']}"

    assert call("GET", one).json == made
    assert [found["id"] for found in call("GET", HOOKS).json["data"]] == [made["id"], second["id"]]
    assert "whsec_" not in call("GET", HOOKS).text
    changed = call.json("PUT", one, events=["quota.80"], enabled=False).json
    assert (changed["events"], changed["status"]) == (["quota.80"], "DISABLED")
    assert call("DELETE", one).status == 204
    assert call("GET", one).status == 404
    assert call("DELETE", one).status == 404


def test_receivers_verify_what_they_get(call, world, receiver):
    """The Standard Webhooks package verifies headers and signature; bodies contain only ids."""
    made = hook(call, receiver)
    dataset_id = upload(call)
    world.work()

    (got,) = receiver.received
    verified = standardwebhooks.Webhook(made["secret"])
    body = with_time(verified, world, got)
    assert body["type"] == "dataset.ready"
    assert body["data"]["id"] == dataset_id
    assert set(body["data"]) == {"id", "family", "receiptId"}
    (delivery,) = deliveries(call, made)
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == (
        "DELIVERED",
        1,
        200,
    )
    assert delivery["id"] == got.headers["webhook-id"]
    changed = got.body.replace("ready", "READY")
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        with_time(verified, world, replace(got, body=changed))


def with_time(verified: Any, world: Any, got: Any) -> Any:
    """Verify a request at the time of the test's clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            standardwebhooks.Webhook,
            "_Webhook__verify_timestamp",
            lambda *_: world.clock(),
            raising=True,
        )
        return verified.verify(got.body, got.headers)


def test_two_secrets_sign_for_a_day(call, world, receiver):
    """After a rotation both secrets verify; a day later only the new one."""
    made = hook(call, receiver)
    rotated = call.json("POST", f"{HOOKS}/{made['id']}/rotate").json
    assert rotated["secret"] != made["secret"]
    upload(call)
    world.work()
    for secret in (made["secret"], rotated["secret"]):
        with_time(standardwebhooks.Webhook(secret), world, receiver.received[-1])

    world.clock.now += timedelta(hours=24, seconds=1)
    call.token = world.container.tokens.grant_assertion(world.assertion()).access_token
    call.json("POST", f"{HOOKS}/{made['id']}/test")
    world.work()
    with_time(standardwebhooks.Webhook(rotated["secret"]), world, receiver.received[-1])
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        with_time(standardwebhooks.Webhook(made["secret"]), world, receiver.received[-1])


def test_every_kind_of_event_is_sent(call, world, receiver):
    """Uploads, trainings, exports, batches and deletions send events, also when they fail."""
    hook(call, receiver)
    good, empty = upload(call), upload(call, MANY_LABELS)
    call.json("POST", "/v2/language/train", name="m", datasetId=DATASET_ID)
    call.json("POST", f"{DATASETS}/{DATASET_ID}/exports", format="csv")
    call.json("POST", "/v2/language/batches", modelId=MODEL_ID, datasetId=DATASET_ID)
    world.work()
    call("DELETE", f"{DATASETS}/{good}")
    world.work()

    sent = {body["type"]: body["data"] for body in bodies(receiver)}
    assert set(sent) >= {
        "dataset.ready", "dataset.failed", "training.succeeded", "export.ready", "batch.done",
        "deletion.done",
    }  # fmt: skip
    assert sent["dataset.failed"]["id"] == empty
    assert sent["deletion.done"]["deletedObjectId"] == str(good)


def test_the_event_of_an_exported_model_names_it(call, world, receiver, monkeypatch, tmp_path):
    """The event of a model export has the ids of export and model."""
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "model.onnx").write_bytes(b"a graph")
    monkeypatch.setattr(world.container.encoders, "_directory", tmp_path)
    hook(call, receiver, "export.ready")
    made = call.json("POST", f"/v2/language/models/{MODEL_ID}/exports").json
    world.work()

    [body] = bodies(receiver)
    assert body["data"] == {"id": made["id"], "modelId": MODEL_ID, "family": "language"}


def test_imports_send_events_of_trainings(call, world, receiver, monkeypatch, tmp_path):
    """A successful and a failed import send a training event with the model, without a dataset."""
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "model.onnx").write_bytes(b"a graph")
    monkeypatch.setattr(world.container.encoders, "_directory", tmp_path)
    call.json("POST", f"/v2/language/models/{MODEL_ID}/exports")
    world.work()
    [key] = world.objects(f"exports/{MODEL_ID}/")
    content = world.stores.artifacts.get(key)
    hook(call, receiver, "training.succeeded", "training.failed")
    good, damaged = (
        call.form(
            "POST",
            "/v2/language/models/import",
            ("name", b"theirs", None),
            ("data", archive, "model.zip"),
        ).json["modelId"]
        for archive in (content, content[: len(content) // 2])
    )
    world.work()

    facts = {"datasetId": 0, "run": 1, "family": "language"}
    sent = {body["type"]: body["data"] for body in bodies(receiver)}
    assert sent == {
        "training.succeeded": {"modelId": good, **facts},
        "training.failed": {"modelId": damaged, **facts},
    }


def test_only_subscribed_events_are_sent(call, world, receiver):
    """Events without a subscription are not sent, and disabled webhooks send nothing."""
    hook(call, receiver, "training.failed")
    disabled = hook(call, receiver)
    call.json("PUT", f"{HOOKS}/{disabled['id']}", enabled=False)
    upload(call)
    world.work()

    assert receiver.received == []


def test_quota_events_are_sent_at_80_and_100_percent(call, world, receiver):
    """Only the prediction that reaches 80 or 100 % of the quota sends the event."""
    hook(call, receiver, "quota.80", "quota.100")
    limit = world.account.predictions_per_month
    asked = {"modelId": MODEL_ID, "document": "where is it"}
    for used in (limit * 8 // 10 - 2, limit - 2):
        world.use(PREDICTIONS, used)
        for _ in range(4):
            call.json("POST", "/v2/language/intent", **asked)
    world.work()

    sent = [(body["type"], body["data"]) for body in bodies(receiver)]
    month = {"month": "2026-11", "limit": limit}
    assert sent == [("quota.80", month), ("quota.100", month)]


@pytest.mark.parametrize("status", [500, 302, 404])
def test_a_receiver_down_for_an_hour_gets_all_events_later(call, world, receiver, status):
    """Delays between attempts grow for each event; redirects are not followed."""
    made = hook(call, receiver)
    receiver.status = status
    for _ in range(5):
        upload(call)
    world.work()
    pass_time(call, world, 60)
    attempts = len(receiver.received)
    assert all(one.path == "/hook" for one in receiver.received)
    assert 6 <= attempts <= 12
    record = call("GET", f"{HOOKS}/{made['id']}").json
    assert record["status"] == "ENABLED"
    assert str(status) in record["failureMsg"]

    receiver.status = 204
    pass_time(call, world, 70, step=5)
    assert {one["status"] for one in deliveries(call, made)} == {"DELIVERED"}
    assert len({body["data"]["id"] for body in bodies(receiver)}) == 5
    assert "failureMsg" not in call("GET", f"{HOOKS}/{made['id']}").json


def test_a_receiver_that_is_down_for_a_day_is_disabled(call, world, receiver):
    """A receiver down for a day is disabled; once enabled it gets only new events."""
    made = hook(call, receiver)
    receiver.status = 503
    upload(call)
    world.work()
    pass_time(call, world, 28 * 60, step=60)

    record = call("GET", f"{HOOKS}/{made['id']}").json
    assert (record["status"], "503" in record["failureMsg"]) == ("DISABLED", True)
    assert [one["status"] for one in deliveries(call, made)] == ["FAILED"]
    receiver.status = 200
    call.json("PUT", f"{HOOKS}/{made['id']}", enabled=True)
    before = len(receiver.received)
    upload(call)
    world.work()
    assert len(receiver.received) == before + 1


def test_a_slow_receiver_blocks_nothing(call, world, receiver, monkeypatch):
    """A slow receiver is cut off at the timeout; other events do not use up an attempt."""
    monkeypatch.setattr("chalicelib.services.webhooks.delivering.DELIVERY_SECONDS", 0.3)
    made = hook(call, receiver)
    receiver.seconds = 5
    for _ in range(3):
        upload(call)
    world.work()

    wait_until(lambda: len(receiver.received) > 0)
    assert len(receiver.received) == 1
    listed = deliveries(call, made)
    assert [one["status"] for one in listed] == ["PENDING"] * 3
    assert ["0.3 seconds" in one.get("failureMsg", "") for one in listed].count(True) == 1


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://example.com/", "https"),
        ("https://127.0.0.1/", "not on the public internet"),
        ("https://10.0.0.7/hook", "not on the public internet"),
        ("https://169.254.169.254/latest", "not on the public internet"),
        ("https://[::1]/", "not on the public internet"),
        ("https://user:pass@example.com/", "credentials"),
        ("ftp://example.com/", "http or https"),
        ("nonsense", "http or https"),
    ],
)
def test_addresses_that_are_refused(call, world, url, text):
    """A private address, another scheme or credentials are a 400 with the cause."""
    public = [(2, 1, 6, "", ("93.184.215.14", 80))]
    world.container.webhooks._downloads = Downloader(
        resolver=lambda host, *_, **__: (
            public if host == "example.com" else [(2 if ":" not in host else 10, 1, 6, "", (host,))]
        )
    )
    answer = call.json("POST", HOOKS, url=url, events=["dataset.ready"])

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text
    assert call("GET", HOOKS).json["data"] == []


def test_an_address_is_checked_at_each_delivery(call, world, receiver):
    """A host that later resolves to a private address gets nothing."""
    made = hook(call, receiver)
    world.container.deliveries._downloads = Downloader()
    upload(call)
    world.work()

    assert receiver.received == []
    assert "not on the public internet" in deliveries(call, made)[0]["failureMsg"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"events": ["dataset.ready"]}, "'url'"),
        ({"url": "https://example.com"}, "'events'"),
        ({"url": "https://example.com", "events": []}, "at least one"),
        ({"url": "https://example.com", "events": ["x"]}, "'x' is not one of dataset.ready"),
        ({"url": "https://example.com", "events": "dataset.ready"}, "'events'"),
    ],
)
def test_wrong_fields(call, fields, text):
    """A missing or unknown field is a 400 that names it."""
    answer = call.json("POST", HOOKS, **fields)

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text


def test_ten_webhooks_are_the_most(call, receiver):
    """The eleventh webhook is a 409 that names the limit."""
    for _ in range(10):
        hook(call, receiver)
    answer = call.json("POST", HOOKS, url=receiver.url, events=["dataset.ready"])

    assert (answer.status, answer.json["code"]) == (409, "too_many_webhooks")
    assert "10 webhooks" in answer.json["message"]


def test_a_key_shows_the_secret_again_and_makes_one_webhook(call, receiver):
    """A repeated creation returns the same secret from an encrypted stored answer."""
    body = json.dumps({"url": receiver.url, "events": ["dataset.ready"]}).encode()
    first, second = (
        call("POST", HOOKS, body, "application/json", idempotency_key="k") for _ in range(2)
    )

    assert first.json["secret"] == second.json["secret"]
    assert len(call("GET", HOOKS).json["data"]) == 1


def test_other_accounts_see_and_reach_nothing(call, world, receiver):
    """Other accounts cannot find a webhook, and their events are not sent to it."""
    made = hook(call, receiver)
    _, token = world.sign_up("b@example.test")
    other = Caller(token)

    assert other("GET", HOOKS).json["data"] == []
    for method, tail in (
        ("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("POST", "/test"), ("GET", "/deliveries"),
    ):  # fmt: skip
        assert other(method, f"{HOOKS}/{made['id']}{tail}").status == 404
    assert other.json("PUT", f"{HOOKS}/{made['id']}", enabled=False).status == 404
    upload(other)
    world.work()
    assert receiver.received == []


def test_secrets_are_encrypted_and_not_logged(call, world, receiver, caplog):
    """Neither the row nor any log line contains a secret."""
    made = hook(call, receiver)
    call.json("POST", f"{HOOKS}/{made['id']}/test")
    world.work()

    row = AccountRow.get(f"HOOKS#{world.account.account_id}")
    bare = made["secret"].removeprefix(webhook.PREFIX)
    assert bare not in repr(row.attribute_values)
    assert bare not in caplog.text
    assert receiver.url not in caplog.text
