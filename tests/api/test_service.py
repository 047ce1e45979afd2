"""Health and the API description, which need no token."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime

import pytest

from chalicelib import __version__
from chalicelib.domain.common.saving import Unsaved
from chalicelib.web.openapi.page import FOLDER, TYPES

# Of swagger-ui-dist 5.35.0.
VENDORED = {
    "swagger-ui-bundle.js": "e6a898692f2d768e807c3ba4626068a69a2c5dd960dd6c76f3e4d3a3de180af2",
    "swagger-ui.css": "5ed08757e53da3e026d6cbecc61fe5d43585c9560b302d534ad56692519a273d",
}


def test_health_names_the_engines(call, world):
    """Health needs no token, and lists the installed engines and their parts."""
    record = call("GET", "/v2/health", authorization="").json

    parts = record.pop("engineParts")
    engines = world.container.engines()
    assert record == {"status": "ok", "version": __version__, "engines": engines}
    assert list(engines) == ["text-fast", "text-accurate", "vision", "ocr"]
    assert {"bge", "use", "lite2", "nanodet"} <= {part["name"] for part in parts}
    for part in parts:
        assert set(part) <= {"name", "state", "title", "sha256"}
        assert part["state"] in ("loaded", "installed", "missing", "damaged")


def test_health_lists_what_cannot_be_saved(call, world, monkeypatch):
    """While saving fails, health says since when and how much; otherwise it omits this."""
    assert "unsaved" not in call("GET", "/v2/health", authorization="").json
    found = Unsaved(datetime(2026, 11, 21, 9, 30, tzinfo=UTC), 2, 1)
    monkeypatch.setattr(world.container, "unsaved", lambda: found)

    record = call("GET", "/v2/health", authorization="").json

    unsaved = {"since": "2026-11-21T09:30:00.000+0000", "datasets": 2, "models": 1}
    assert record["unsaved"] == unsaved


@pytest.mark.parametrize("url", ["/v2/openapi.json", "/v2/docs"])
def test_description_needs_neither_token_nor_storage(stranger, url):
    """The description is served without building the service container."""
    assert stranger("GET", url, authorization="").status == 200


def test_page_loads_nothing_from_elsewhere(stranger):
    """The docs page loads only its own files, which its policy enforces."""
    answer = stranger("GET", "/v2/docs")
    found = re.findall(r'(?:src|href)="([^"]+)"', answer.text)

    own = {name for name in found if not name.startswith("data:")}
    assert own == {f"docs/{name}" for name in TYPES} | {"openapi.json"}
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    for name, kind in TYPES.items():
        file = stranger("GET", f"/v2/docs/{name}")
        assert (file.status, file.headers["Content-Type"]) == (200, kind)


def test_page_has_no_other_files(stranger):
    """Any other path below the page is a 404, even that of an existing file next to its files."""
    for name in ("index.html", "absent.js", "..%2Fexamples.json", "../examples.json"):
        assert stranger("GET", f"/v2/docs/{name}").status == 404


@pytest.mark.parametrize(("name", "digest"), VENDORED.items())
def test_third_party_files_are_unmodified(name, digest):
    """Swagger UI is vendored byte for byte; NOTICE names version and licence."""
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest


def test_every_type_of_the_pages_files_is_described(stranger, paths):
    """The document declares the content type of each of the page's files."""
    described = set(paths["/v2/docs/{file}"]["get"]["responses"]["200"]["content"])
    sent = {stranger("GET", f"/v2/docs/{name}").headers["Content-Type"] for name in TYPES}

    assert {kind.partition(";")[0] for kind in sent} == described
