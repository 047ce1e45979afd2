"""Learned templates through the gateway."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.issuers import OTHERS
from chalicelib.domain.jobs.template_learning import LEARNING_KEPT, MAX_OPEN_LEARNINGS
from tests.api.conftest import multipart
from tests.pdfs import text_pdf
from tests.pictures import make_zip

URL = "/v2/vision/templates/learn"
NUMBERS = ("4711", "8152", "9003")


def _values(entries: Any) -> bytes:
    return json.dumps(entries).encode()


def _archive(entries: Any = None, **more: bytes) -> bytes:
    """Return an archive of three orders, or with other values and files."""
    pages = {f"{n}.pdf": text_pdf([f"Order number: {n}", "Thank you"]) for n in NUMBERS}
    known = [{"file": f"{n}.pdf", "values": {"order": n}} for n in NUMBERS]
    return make_zip(
        {**pages, **more, "values.json": _values(known if entries is None else entries)}
    )


def _sent(content: bytes) -> tuple[str, bytes, str]:
    return ("data", content, "examples.zip")


def test_a_template_is_learned_and_read_with(call, world):
    """A job is QUEUED, then has a template that reads a document as `formTemplate`."""
    issuer = OTHERS[0]
    invoices = [issuer.invoice(number) for number in range(4)]
    entries = [{"file": one.name, "values": dict(one.values)} for one in invoices[:3]]
    files = {f"shop/{one.name}": one.content for one in invoices}
    sent = _sent(make_zip({**files, "shop/values.json": _values(entries)}))
    made = call.form("POST", URL, sent)
    assert (made.status, list(made.json)) == (
        200, ["id", "status", "createdAt", "updatedAt", "expiresAt", "object"],
    ), made.text  # fmt: skip
    assert (made.json["status"], made.json["object"]) == ("QUEUED", "learnedTemplate")
    world.work()

    found = call("GET", f"{URL}/{made.json['id']}").json
    assert (found["status"], found["accuracy"], found["notFound"]) == ("SUCCEEDED", 1.0, [])
    assert {"entity": "total", "right": 3, "of": 3} in found["perField"]
    read = call.form(
        "POST", "/v2/vision/ocr", ("sampleContent", invoices[3].content, "a.pdf"),
        ("modelId", b"OCRModel", None), ("task", b"form", None),
        ("formTemplate", json.dumps(found["template"]).encode(), None),
    ).json  # fmt: skip
    values = {
        item["attributes"]["key"]["entity"]: item["attributes"]["value"]["text"]
        for item in read["probabilities"]
    }
    assert values["number"] == invoices[3].values["number"]
    assert values["customer"] == invoices[3].values["customer"]


def test_an_archive_at_a_url_is_read_in_the_background(call, world):
    """An archive at a URL is fetched by the worker; an invalid file fails the job."""
    made = call.json("POST", URL, path=world.tricks.url("/honest.csv")).json
    world.work()
    found = call("GET", f"{URL}/{made['id']}").json

    assert (found["status"], "zip archive" in found["failureMsg"]) == ("FAILED", True)
    assert "template" not in found


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (make_zip({"a.pdf": b"x"}), "has no file values.json"),
        (make_zip({"values.json": b"\xff"}), "not valid UTF-8"),
        (make_zip({"values.json": b"{]"}), "values.json is not JSON"),
        (make_zip({"values.json": b"[" * 90}), "nested too deeply"),
        (_archive({}), "an array was expected"),
        (_archive([]), "has 0 documents; 1 to 20"),
        (_archive([{"file": "a", "values": {}}] * 21), "has 21 documents; 1 to 20"),
        (_archive([7]), "values.json[0]: an object was expected"),
        (_archive([{"values": {}}]), "values.json[0].file"),
        (_archive([{"file": "no.pdf", "values": {"a": "b"}}]), 'no file "no.pdf"'),
        (_archive([{"file": "4711.pdf", "values": []}]), "values.json[0].values"),
        (_archive([{"file": "4711.pdf", "values": {"a": [1]}}]), '"a" is not a text'),
        (_archive([{"file": "4711.pdf", "values": {"a": "b" * 1001}}]), "1,001 characters"),
        (_archive([{"file": "4711.pdf", "values": {" ": "b"}}]), "is not an entity"),
        (_archive([{"file": "4711.pdf", "values": {"a\ud800": "b"}}]), "is not an entity"),
        (_archive([{"file": "4711.pdf", "values": {}}]), "0 entities; 1 to 500"),
        (
            _archive([{"file": "4711.pdf", "values": {f"e{n}": "1" for n in range(501)}}]),
            "501 entities; 1 to 500",
        ),
        (_archive([{"file": "4711.pdf", "values": {"a": "b"}}] * 2), "is there twice"),
    ],
)
def test_wrong_archives_are_refused_in_the_call(call, world, content, text):
    """An invalid archive is refused with place, value and remedy; nothing is stored."""
    answer = call.form("POST", URL, _sent(content))

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text
    assert world.objects("batches/") == []


def test_source_is_exactly_one(call):
    """Without an archive, or with two, the call is refused."""
    neither = call.json("POST", URL)
    both = call.form("POST", URL, _sent(_archive()), ("path", b"http://a.example/z.zip", None))

    assert (neither.status, "'data'" in neither.json["message"]) == (400, True)
    assert (both.status, both.json["code"]) == (400, "duplicated_parameter")
    assert call.form("POST", URL, _sent(b"%PDF-1.7 and more")).status == 415


@pytest.mark.parametrize(
    ("more", "entries", "text"),
    [
        ({"a.pdf": b"no PDF"}, [{"file": "a.pdf", "values": {"order": "1"}}], "a.pdf: "),
        (
            {f"{n}.pdf": text_pdf(*[["Order: 17"]] * 8) for n in "abcdef"},
            [{"file": f"{n}.pdf", "values": {"order": "17"}} for n in "abcdef"],
            "more than 40 pages",
        ),
        ({}, [{"file": "4711.pdf", "values": {"order": "absent"}}], "None of the values"),
    ],
)
def test_wrong_documents_fail_the_job(call, world, more, entries, text):
    """An unreadable document, or one with too many pages, fails the job with its name."""
    made = call.form("POST", URL, _sent(_archive(entries, **more)))
    assert made.status == 200, made.text
    world.work()

    found = call("GET", f"{URL}/{made.json['id']}").json
    assert (found["status"], text in found.get("failureMsg", "")) == ("FAILED", True), found


def test_input_and_result_are_deleted_after_a_day(call, world):
    """After 24 hours rows and objects are deleted, whether the job has ended or not."""
    ended = call.form("POST", URL, _sent(_archive())).json["id"]
    world.work()
    open_one = call.form("POST", URL, _sent(_archive())).json["id"]
    assert len(world.objects("batches/")) == 3

    world.clock.advance(seconds=LEARNING_KEPT.total_seconds() + 1)
    token_url = [call("GET", f"{URL}/{one}").status for one in (ended, open_one)]
    assert set(token_url) <= {401, 404}
    world.container.sweeping.run()
    assert world.objects("batches/") == []
    assert world.stores.learnings.of_account(world.account.account_id) == []


def test_unknown_templates(call):
    """Unknown and malformed ids are a 404."""
    for one in ("A" * 26, "%00", "x"):
        answer = call("GET", f"{URL}/{one}")
        assert (answer.status, answer.json["code"]) == (404, "template_not_found")


def test_open_jobs_are_limited(call):
    """An account can have only a few unfinished jobs."""
    for _ in range(MAX_OPEN_LEARNINGS):
        assert call.form("POST", URL, _sent(_archive())).status == 200
    answer = call.form("POST", URL, _sent(_archive()))

    assert (answer.status, answer.headers["Retry-After"]) == (429, "30")


def test_a_key_creates_one_job(call):
    """A repeat with the same Idempotency-Key returns the first job."""
    body = multipart(_sent(_archive()))
    first, second = (
        call(
            "POST", URL, body, 'multipart/form-data; boundary="B"',
            **{"idempotency-key": "one"},
        )
        for _ in range(2)
    )  # fmt: skip

    assert first.json["id"] == second.json["id"]
    assert first.json["status"] == "QUEUED"
