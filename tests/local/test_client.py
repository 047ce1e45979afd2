"""The demo's HTTP client against a running stack."""

from __future__ import annotations

import base64

import pytest

from infra.local import client
from infra.local.client import CallFailed, Service


def test_post_sends_fields_and_the_file_as_a_form(stack, tmp_path):
    """A form holds every field and the file's bytes under the name `data`."""
    file = tmp_path / "rows.csv"
    file.write_bytes(b"a,b\n\xff,1\n")

    answer = Service(stack.url, "token").post("/v2/echo", {"type": "text-intent"}, file)

    body = base64.b64decode(answer["body"])
    assert b'name="type"\r\n\r\ntext-intent\r\n' in body
    assert b'name="data"; filename="rows.csv"\r\n\r\na,b\n\xff,1\n\r\n' in body


def test_get_carries_the_token(stack):
    """Every call is made in the account's name."""
    headers = Service(stack.url, "secret").get("/v2/context")["headers"]

    assert headers["authorization"] == "Bearer secret"


def test_refusal_is_reported_with_its_text(stack):
    """What the service says is in the error."""
    with pytest.raises(CallFailed, match=r"404: .*route_not_found"):
        Service(stack.url, "token").get("/v2/nowhere")


def test_service_that_does_not_answer_is_reported():
    """A closed port gives an error without a traceback."""
    with pytest.raises(CallFailed, match="does not answer"):
        Service("http://127.0.0.1:9", "token").get("/")


def test_wait_ends_when_it_is_over_or_stands_still(stack):
    """A record that does not change is abandoned with its latest state."""
    service = Service(stack.url, "token")

    assert service.wait("/v2/nothing", lambda _: True, 1) == {"object": "nothing"}
    with pytest.raises(CallFailed, match=r"has not changed for 0\.2 seconds"):
        service.wait("/v2/nothing", lambda _: False, 0.2)


def test_wait_continues_while_there_is_progress(monkeypatch):
    """Waiting continues as long as the record changes."""
    moments = iter(range(0, 100_000, 100))
    monkeypatch.setattr(client.time, "monotonic", lambda: float(next(moments)))
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    states = iter([{"progress": number // 2} for number in range(41)])
    monkeypatch.setattr(Service, "get", lambda *_: next(states))
    seen = []

    ended = Service("").wait("/train", lambda record: record["progress"] == 20, 300, seen.append)

    assert ended == {"progress": 20}
    assert seen == [{"progress": number} for number in range(1, 20)]
