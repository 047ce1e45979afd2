"""Tests of rankings in the client and the command."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from presage import Presage
from presage.cli import rankings
from presage.cli.app import main

LINES = (
    {"rank": 1, "row": 3, "score": 0.4, "reason": "unlike", "text": "how hot is\tit"},
    {"rank": 2, "id": "7", "score": 0.1, "reason": "uncertain", "text": "snow?",
     "suggestion": "weather", "confidence": 0.5},
)  # fmt: skip
MODEL = "A" * 26


def record(status: str, **more: Any) -> dict[str, Any]:
    """Return a ranking as the service does."""
    when = "2026-11-21T09:30:00.000+0000"
    facts = {"id": "B" * 26, "name": "t", "modelId": MODEL, "kind": "rank", "format": "jsonl"}
    counts = {"total": 4, "done": 4, "failed": 0}
    times = {"createdAt": when, "updatedAt": when, "expiresAt": when}
    stands = {"status": status, "progress": 1, "counts": counts, "object": "batch"}
    return {**facts, **times, **stands, **more}


@pytest.fixture
def asked() -> list[tuple[str, str, bytes]]:
    """Collect method, path and body of each call."""
    return []


@pytest.fixture
def service(asked: list[tuple[str, str, bytes]]) -> Presage:
    """Return a client of a service whose rankings end immediately."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        asked.append((request.method, path, request.read()))
        if path == "/result":
            content = b"".join(json.dumps(line).encode() + b"\n" for line in LINES)
            return httpx.Response(200, content=content)
        if path.endswith("/rankings"):
            return httpx.Response(200, json=record("RUNNING"))
        done = record("SUCCEEDED", resultUrl="http://service/result", resultBytes=9)
        return httpx.Response(200, json=done)

    transport = httpx.MockTransport(answer)
    return Presage("http://service", token="t", http={"transport": transport})


@pytest.mark.parametrize(("family", "more"), [("language", {"text_column": 2}), ("vision", {})])
def test_ranking_is_created_and_read(
    service: Presage, asked: list[tuple[str, str, bytes]], family: str, more: dict[str, Any]
) -> None:
    """A ranking calls its family, and returns a batch to wait for and read."""
    made = getattr(service, family).rankings.create(MODEL, dataset_id=5, count=2, **more)
    method, path, body = asked[-1]
    assert (method, path) == ("POST", f"/v2/{family}/rankings")
    sent = json.loads(body)
    assert (sent["modelId"], sent["datasetId"], sent["count"]) == (MODEL, 5, 2)
    assert sent.get("textColumn") == more.get("text_column")
    assert (made.kind, made.status) == ("rank", "RUNNING")
    assert made.wait(progress=False).results() == list(LINES)
    assert next(path for _, path, _ in asked[1:-1]) == f"/v2/{family}/batches/{made.id}"


@pytest.mark.parametrize("as_json", [False, True])
def test_command_prints_one_line_per_sample(
    service: Presage,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    as_json: bool,
) -> None:
    """`presage rank` prints a table, or one JSON object per line."""
    found = SimpleNamespace(model_type="text-intent")
    monkeypatch.setattr(rankings, "client", lambda: service)
    monkeypatch.setattr(rankings, "find_model", lambda service, model_id: found)
    words = ["presage", "rank", "http://there/t.csv", "--model", MODEL, "-q"]
    monkeypatch.setattr(sys, "argv", [*words, "--json"] if as_json else words)
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code in (0, None), shown.err
    lines = shown.out.splitlines()
    if as_json:
        assert [json.loads(line) for line in lines] == list(LINES)
    else:
        assert [line.split("  ")[-1] for line in lines] == ["sample", "how hot is it", "snow?"]
