"""Calls with an Idempotency-Key through the gateway. beyond.md, section 5."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import app as module
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts.idempotency import IdempotencyStore
from chalicelib.stores.aws.tables import DatasetRow, KeyRow
from tests.api.conftest import make_event, multipart
from tests.api.prepared import DATASET_ID, MODEL_ID

DATASETS = "/v2/language/datasets"
CORRECTIONS = f"{DATASETS}/{DATASET_ID}/corrections"
CSV = b"where is my parcel,delivery\n" * 3 + b"i want my money back,refund\n"
# Operations that create and change nothing, and tokens.
UNKEYED = {
    "compare_model_versions", "create_token", "detect_objects", "predict_entities",
    "predict_image", "predict_intent", "predict_sentiment", "run_ocr", "validate_dataset",
    "validate_pictures",
}  # fmt: skip


class Died(BaseException):
    """Simulates the death of the process."""


def keyed(call: Any, method: str, url: str, key: str = "k-1", **fields: Any) -> Any:
    """Send a JSON body with an idempotency key."""
    body = json.dumps(fields).encode()
    return call(method, url, body, "application/json", idempotency_key=key)


def listed(call: Any, url: str = DATASETS) -> list[Any]:
    """List the existing ids."""
    return [one.get("id") or one["modelId"] for one in call("GET", url).json["data"]]


def test_every_call_that_changes_something_takes_a_key():
    """All POST and PUT calls except predictions, tokens and validations accept a key."""
    changing = [one for one in module.app.operations if one.method in ("POST", "PUT")]

    left_out = {one.name for one in changing if not one.takes_key}
    assert left_out == UNKEYED
    assert all(one.method in ("POST", "PUT") for one in module.app.operations if one.takes_key)


def test_the_first_answer_is_repeated(call):
    """A repeat returns the first answer and creates nothing; a header marks the replay."""
    before = listed(call)
    first, second = (
        keyed(call, "POST", DATASETS, type="text-intent", name="new", labels="a,b")
        for _ in range(2)
    )

    assert (first.status, first.text) == (second.status, second.text)
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert listed(call) == [*before, first.json["id"]]


def test_each_key_stands_for_one_request(call):
    """Another key creates another dataset; the same key with another request is a 422."""
    first = keyed(call, "POST", DATASETS, type="text-intent", name="new").json["id"]

    assert (
        keyed(call, "POST", DATASETS, key="k-2", type="text-intent", name="new").json["id"] > first
    )
    for url, fields in (
        (DATASETS, {"type": "text-intent", "name": "other"}),
        ("/v2/vision/datasets", {"type": "text-intent", "name": "new"}),
    ):
        answer = keyed(call, "POST", url, **fields)
        assert (answer.status, answer.json["code"]) == (422, "idempotency_key_reused")


def test_the_same_form_with_another_boundary_is_the_same_request(call):
    """Forms with equal fields and files are the same request, whatever their boundary."""
    parts = (("type", b"text-intent", None), ("data", CSV, "t.csv"))
    body, url = multipart(*parts), f"{DATASETS}/upload"
    kind = 'multipart/form-data; boundary="{}"'
    first = call("POST", url, body, kind.format("B"), idempotency_key="k")
    other = body.replace(b"--B", b"--CC")
    second = call("POST", url, other, kind.format("CC"), idempotency_key="k")
    third = call(
        "POST", url, body.replace(b"parcel", b"PARCEL"), kind.format("B"), idempotency_key="k"
    )

    assert (first.status, first.text) == (200, second.text)
    assert third.status == 422


@pytest.mark.parametrize("key", [" ", "x" * 256, "schlüssel", "two words", "tab\there"])
def test_bad_keys(call, key):
    """An invalid key is a 400 with limit and value, and nothing is created."""
    before = listed(call)
    event = event_with(call, key)
    answer = call.send(event)

    assert answer.status == 400
    assert "1 to 255 visible characters" in answer.json["message"]
    assert str(len(key)) in answer.json["message"]
    assert listed(call) == before


def event_with(call: Any, key: str) -> dict[str, Any]:
    """Build a creation event with an arbitrary idempotency key."""
    body = json.dumps({"type": "text-intent", "name": "new"}).encode()
    made = make_event("POST", DATASETS, body, "application/json")
    made["headers"] |= {"Authorization": f"Bearer {call.token}", "Idempotency-Key": key}
    return made


def test_refusals_are_kept_unless_waiting_helps(call, world, monkeypatch):
    """A 400 is stored and replayed; a 503 or 429 is not, and the next call does the work."""
    assert keyed(call, "POST", DATASETS, key="a").status == 400
    again = keyed(call, "POST", DATASETS, key="a")
    assert (again.status, again.headers["Idempotency-Replayed"]) == (400, "true")

    datasets = world.container.stores.datasets
    monkeypatch.setattr(datasets, "reserve", _raise(StorageUnavailable()))
    assert keyed(call, "POST", DATASETS, key="b", type="text-intent", name="new").status == 503
    monkeypatch.undo()
    answer = keyed(call, "POST", DATASETS, key="b", type="text-intent", name="new")
    assert answer.status == 200
    assert "Idempotency-Replayed" not in answer.headers


def test_an_answer_is_kept_before_the_404(call, world):
    """A stored answer is replayed even after the object was deleted."""
    url = f"{DATASETS}/{DATASET_ID}/examples"
    fields = {"document": "quite new", "label": "refund"}
    first = keyed(call, "POST", url, **fields)
    assert first.status == 200, first.text
    call("DELETE", f"{DATASETS}/{DATASET_ID}")
    world.work()

    assert keyed(call, "POST", url, **fields).text == first.text
    assert keyed(call, "POST", url, key="k-2", **fields).status == 404


def test_an_answer_is_kept_a_day(call, world, monkeypatch):
    """After 24 hours a key can be used again."""
    first = keyed(call, "POST", DATASETS, type="text-intent", name="new").json["id"]
    clock = world.container.clock
    answers = world.container.stores.idempotency
    monkeypatch.setattr(answers, "_clock", lambda: clock() + timedelta(hours=23.9))
    assert keyed(call, "POST", DATASETS, type="text-intent", name="new").json["id"] == first
    monkeypatch.setattr(answers, "_clock", lambda: clock() + timedelta(hours=24.1))
    assert keyed(call, "POST", DATASETS, type="text-intent", name="new").json["id"] > first


def test_stored_answers_are_encrypted(call, world):
    """Neither the key nor an upload's form is stored in plain text."""
    answer = keyed(call, "POST", "/v2/uploads", key="my-own-key", name="file")
    assert answer.status == 200, answer.text

    rows = list(KeyRow.query(f"{world.account.account_id}#keys"))
    text = repr([row.attribute_values for row in rows])
    assert rows
    assert "my-own-key" not in text
    assert answer.json["path"] not in text


def test_keys_are_kept_for_each_account(call, world):
    """Two accounts can use the same key."""
    answers = world.container.stores.idempotency
    one = answers.claim("1", "k", "r", lambda: 0)
    two = answers.claim("2", "k", "other", lambda: 0)

    assert one.object_id != two.object_id


def test_a_running_call_is_a_409(call, world, monkeypatch):
    """A call still in progress is a 409 with Retry-After; a second process does not repeat it."""
    seen = []
    service = world.container.datasets

    def create(*given: Any) -> Any:
        seen.append(keyed(call, "POST", DATASETS, type="text-intent", name="new"))
        return type(service).create(service, *given)

    monkeypatch.setattr(service, "create", create)
    assert keyed(call, "POST", DATASETS, type="text-intent", name="new").status == 200
    assert seen[0].status == 409
    assert seen[0].json["code"] == "idempotency_key_under_way"
    assert int(seen[0].headers["Retry-After"]) >= 1


def test_a_thousand_calls_from_32_threads_are_one(call, world):
    """1,000 calls with one key from 32 threads create one dataset and get one answer."""
    world.one_call_at_a_time()
    before = listed(call)

    def send(_: int) -> tuple[int, str]:
        answer = keyed(call, "POST", DATASETS, type="text-intent", name="new", labels="a,b")
        return answer.status, answer.text

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(send, range(1000)))

    done = {text for status, text in answers if status == 200}
    assert {status for status, _ in answers} <= {200, 409}
    assert len(done) == 1
    assert keyed(call, "POST", DATASETS, type="text-intent", name="new", labels="a,b").text in done
    assert listed(call) == [*before, json.loads(done.pop())["id"]]


# One call of each kind, on what is prepared.
CHANGES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", DATASETS, {"type": "text-intent", "name": "new", "labels": "a,b"}),
    ("POST", f"{DATASETS}/{DATASET_ID}/examples", {"document": "brand new", "label": "refund"}),
    ("POST", f"{DATASETS}/{DATASET_ID}/exports", {"format": "csv"}),
    ("PUT", f"{DATASETS}/{DATASET_ID}", {"name": "renamed"}),
    ("POST", "/v2/language/feedback", {
        "modelId": MODEL_ID, "document": "stop it", "expectedLabel": "refund",
    }),
    ("POST", "/v2/language/retrain", {"modelId": MODEL_ID}),
    ("POST", "/v2/language/train", {"name": "m", "datasetId": DATASET_ID}),
    ("POST", "/v2/uploads", {"name": "file"}),
    ("POST", "/v2/language/batches", {"modelId": MODEL_ID, "datasetId": DATASET_ID}),
    ("POST", "/v2/language/rankings", {"modelId": MODEL_ID, "datasetId": DATASET_ID}),
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=[f"{m} {u}" for m, u, _ in CHANGES])
@pytest.mark.parametrize("is_done", [True, False], ids=["after", "before"])
def test_a_repeat_finds_the_result_of_a_dead_call(call, world, monkeypatch, change, is_done):
    """If the process dies before or after the work, a repeat neither duplicates nor loses it."""
    method, url, fields = change
    before = everything(call, world)
    die_while_keeping(monkeypatch, is_done=is_done)
    with pytest.raises(Died):
        keyed(call, method, url, **fields)
    monkeypatch.undo()
    assert keyed(call, method, url, **fields).status == 409  # its lease still runs
    let_leases_end(world, monkeypatch)

    first = keyed(call, method, url, **fields)
    assert first.status == 200, first.text
    found = everything(call, world)
    assert keyed(call, method, url, **fields).text == first.text
    assert everything(call, world) == found
    assert all(len(found[name]) - len(before[name]) <= 1 for name in found)


@pytest.mark.parametrize("tail", ["", "/upload"])
def test_a_repeat_completes_the_dataset_of_a_call_that_died_within(call, world, monkeypatch, tail):
    """A row that a dead call only reserved is not returned, because the sweep deletes it."""
    body = multipart(("type", b"text-intent", None), ("name", b"new", None), ("data", CSV, "t.csv"))
    kind = 'multipart/form-data; boundary="B"'

    def send() -> Any:
        return call("POST", DATASETS + tail, body, kind, idempotency_key="k")

    with monkeypatch.context() as patch:
        patch.setattr(world.container.stores.datasets, "finish", _raise(Died()))
        with pytest.raises(Died):
            send()
    let_leases_end(world, monkeypatch)

    number = send().json["id"]
    owner = f"{world.account.account_id}#language"
    assert DatasetRow.get(owner, number).open != "DELETION_PENDING"


def test_a_repeat_returns_corrections_of_a_dead_process(call, world, monkeypatch):
    """A repeat of corrections after a crash returns their result and applies nothing twice."""
    one = call("GET", f"{DATASETS}/{DATASET_ID}/browse?count=1").json["data"][0]
    fields = {"corrections": [{"exampleId": one["id"], "remove": True}]}
    die_while_keeping(monkeypatch, is_done=True)
    with pytest.raises(Died):
        keyed(call, "POST", CORRECTIONS, **fields)
    monkeypatch.undo()
    let_leases_end(world, monkeypatch)

    answer = keyed(call, "POST", CORRECTIONS, **fields)
    assert (answer.status, answer.json["removed"]) == (200, 1), answer.text
    assert len(call("GET", CORRECTIONS).json["data"]) == 1


def test_a_repeat_returns_the_merge_of_a_dead_process(call, world, monkeypatch):
    """A repeat of a merge is answered although the merge removed the label in the path."""
    labels = call("GET", f"{DATASETS}/{DATASET_ID}").json["labelSummary"]["labels"]
    url = f"{DATASETS}/{DATASET_ID}/labels/{labels[0]['id']}"
    die_while_keeping(monkeypatch, is_done=True)
    with pytest.raises(Died):
        keyed(call, "PUT", url, mergeInto=labels[1]["id"])
    monkeypatch.undo()
    let_leases_end(world, monkeypatch)

    answer = keyed(call, "PUT", url, mergeInto=labels[1]["id"])
    assert answer.status == 200, answer.text
    assert answer.json["id"] == labels[1]["id"]
    assert answer.json["moved"] == labels[0]["numExamples"]


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_an_upload_that_died_is_taken_once(call, world, monkeypatch, method):
    """A repeat after a crash returns the upload that was already accepted: one dataset."""
    made = call.form("POST", f"{DATASETS}/upload/sync", ("type", b"text-intent", None),
                     ("data", CSV, "t.csv")).json["id"]  # fmt: skip
    tail = "/upload" if method == "POST" else f"/{made}/upload"
    parts = [("data", CSV + b"another one,refund\n", "u.csv")]
    parts += [("type", b"text-intent", None)] if method == "POST" else []
    kind = 'multipart/form-data; boundary="B"'

    def send() -> Any:
        body = multipart(*parts)
        return call(method, DATASETS + tail, body, kind, idempotency_key="k")

    before = listed(call)
    die_while_keeping(monkeypatch, is_done=True)
    with pytest.raises(Died):
        send()
    monkeypatch.undo()
    let_leases_end(world, monkeypatch)
    first = send()
    assert first.status == 200, first.text
    world.work()
    assert send().text == first.text

    new = [one for one in listed(call) if one not in before]
    assert new == ([first.json["id"]] if method == "POST" else [])
    receipts = call("GET", f"{DATASETS}/{first.json['id']}/receipts").json["data"]
    assert len(receipts) == (1 if method == "POST" else 2)
    assert receipts[0]["status"] == "SUCCEEDED"


def everything(call: Any, world: Any) -> dict[str, list[Any]]:
    """List the objects that calls create."""
    examples = call("GET", f"{DATASETS}/{DATASET_ID}/browse").json["data"]
    return {
        "datasets": listed(call),
        "models": listed(call, "/v2/language/models"),
        "batches": listed(call, "/v2/language/batches"),
        "exports": [
            one.export_id
            for one in world.container.stores.exports.of_account(world.account.account_id)
        ],
        "examples": [one["id"] for one in examples],
    }


def die_while_keeping(patch: pytest.MonkeyPatch, *, is_done: bool) -> None:
    """Kill the process when the answer is stored, or before the work starts."""
    if is_done:
        patch.setattr(IdempotencyStore, "keep", _raise(Died()))
        return
    claim = IdempotencyStore.claim

    def claim_and_die(*given: Any) -> Any:
        claim(*given)
        raise Died

    patch.setattr(IdempotencyStore, "claim", claim_and_die)


def let_leases_end(world: Any, patch: pytest.MonkeyPatch) -> None:
    """Advance the idempotency clock past the lease."""
    answers, clock = world.container.stores.idempotency, world.container.clock
    patch.setattr(answers, "_clock", lambda: clock() + timedelta(seconds=61))


def _raise(error: BaseException) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail
