"""Tests of learned templates in the client and the command."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from presage import FileError, JobFailedError, Presage
from presage.cli import templates
from presage.cli.app import main

TEMPLATE = {"version": "1.0", "keys": [{"key": {"entity": "order", "keyVariations": ["Order"]}}]}


def record(status: str, **more: Any) -> dict[str, Any]:
    """Return a learned template as the service does."""
    when = "2026-11-21T09:30:00.000+0000"
    times = {"createdAt": when, "updatedAt": when, "expiresAt": when}
    return {"id": "B" * 26, "status": status, **times, "object": "learnedTemplate", **more}


@pytest.fixture
def asked() -> list[httpx.Request]:
    """Collect the calls."""
    return []


@pytest.fixture
def ended() -> dict[str, Any]:
    """Return the record of the ended job, which a test may change."""
    scores = [{"entity": "order", "right": 2, "of": 2}, {"entity": "day", "right": 0, "of": 2}]
    result = {"template": TEMPLATE, "accuracy": 0.5, "perField": scores, "notFound": ["day"]}
    return record("SUCCEEDED", **result)


@pytest.fixture
def transport(asked: list[httpx.Request], ended: dict[str, Any]) -> httpx.MockTransport:
    """Return a service whose jobs end immediately."""

    def answer(request: httpx.Request) -> httpx.Response:
        request.read()
        asked.append(request)
        return httpx.Response(200, json=record("QUEUED") if request.method == "POST" else ended)

    return httpx.MockTransport(answer)


def connect(transport: httpx.MockTransport) -> Presage:
    """Return a client of the service."""
    return Presage("http://service", token="t", http={"transport": transport})


@pytest.fixture
def service(transport: httpx.MockTransport) -> Presage:
    """Return a client of the service."""
    return connect(transport)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of documents with their values, and other files."""
    for name in ("a.pdf", "b.PNG", "values.json", "notes.txt", ".hidden.pdf"):
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def test_folder_is_packed_and_learned_from(
    service: Presage, asked: list[httpx.Request], folder: Path
) -> None:
    """The documents of a folder and values.json are sent as one archive."""
    learned = service.vision.templates.learn(folder, progress=False).wait(progress=False)

    assert asked[0].url.path == "/v2/vision/templates/learn"
    assert asked[1].url.path == f"/v2/vision/templates/learn/{learned.id}"
    body = asked[0].content
    start = body.index(b"PK\x03\x04")
    with zipfile.ZipFile(io.BytesIO(body[start:])) as archive:
        assert archive.namelist() == ["a.pdf", "b.PNG", "values.json"]
    assert (learned.template, learned.accuracy, learned.not_found) == (TEMPLATE, 0.5, ["day"])
    assert learned.per_field is not None
    assert (learned.per_field[0].right, learned.per_field[0].of) == (2, 2)


def test_folder_without_values_is_refused(service: Presage, tmp_path: Path) -> None:
    """The error says which file is missing, before anything is sent."""
    with pytest.raises(FileError, match=r"values\.json"):
        service.vision.templates.learn(tmp_path)


def test_failed_job_is_an_error(service: Presage, ended: dict[str, Any]) -> None:
    """The error has the service's reason."""
    ended.clear()
    ended |= record("FAILED", failureMsg="a.pdf: it is empty.")
    with pytest.raises(JobFailedError, match=r"a\.pdf: it is empty"):
        service.vision.templates.learn(b"zip", progress=False).wait(progress=False)


def _run(
    transport: httpx.MockTransport, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> int | str | None:
    monkeypatch.setattr(templates, "client", lambda: connect(transport))
    monkeypatch.setattr(sys, "argv", ["presage", "templates", "learn", *words])
    with pytest.raises(SystemExit) as over:
        main()
    return over.value.code


def test_command_writes_the_template(
    transport: httpx.MockTransport,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
) -> None:
    """`presage templates learn` shows the accuracy by field, and writes the template to a file."""
    target = folder / "template.json"
    words = [str(folder), "-q", "-o", str(target)]
    assert _run(transport, monkeypatch, words) in (0, None)

    shown = capsys.readouterr().out
    assert "accuracy 50.0%" in shown
    assert "not found: day" in shown
    assert json.loads(target.read_text()) == TEMPLATE
    assert _run(transport, monkeypatch, words) == 1
    assert "--force overwrites it" in capsys.readouterr().err
    assert _run(transport, monkeypatch, [*words, "--force"]) in (0, None)


def test_command_prints_template_json_or_id(
    transport: httpx.MockTransport,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
) -> None:
    """Without a file the template is the last line; --json and --id are for scripts."""
    assert _run(transport, monkeypatch, [str(folder), "-q"]) in (0, None)
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == TEMPLATE
    assert _run(transport, monkeypatch, [str(folder), "-q", "--json"]) in (0, None)
    assert json.loads(capsys.readouterr().out)["template"] == TEMPLATE
    assert _run(transport, monkeypatch, [str(folder), "-q", "--id"]) in (0, None)
    assert capsys.readouterr().out.strip() == "B" * 26
