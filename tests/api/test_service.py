"""Health and the description of the service, for callers without a token."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.domain.common.saving import Unsaved


def test_health_names_the_engines(call, world):
    """Health needs no token, and tells what is there of each engine and each of its parts."""
    record = call("GET", "/v2/health", authorization="").json

    parts = record.pop("engineParts")
    engines = world.container.engines()
    assert record == {"status": "ok", "version": "0.2.0", "engines": engines}
    assert list(engines) == ["text-fast", "text-accurate", "vision", "ocr"]
    assert {"bge", "use", "lite2", "nanodet"} <= {part["name"] for part in parts}
    for part in parts:
        assert set(part) <= {"name", "state", "title", "sha256"}
        assert part["state"] in ("loaded", "installed", "missing", "damaged")


def test_health_tells_what_cannot_be_saved(call, world, monkeypatch):
    """While nothing can be saved, health says since when and how much; else it says nothing."""
    assert "unsaved" not in call("GET", "/v2/health", authorization="").json
    found = Unsaved(datetime(2026, 11, 21, 9, 30, tzinfo=UTC), 2, 1)
    monkeypatch.setattr(world.container, "unsaved", lambda: found)

    record = call("GET", "/v2/health", authorization="").json

    told = {"since": "2026-11-21T09:30:00.000+0000", "datasets": 2, "models": 1}
    assert record["unsaved"] == told


@pytest.mark.parametrize("url", ["/v2/openapi.json", "/v2/docs"])
def test_description_needs_neither_token_nor_storage(stranger, url):
    """The description is served without a container."""
    assert stranger("GET", url, authorization="").status == 200


def test_page_loads_nothing_from_elsewhere(stranger):
    """The page is one file that names every path."""
    text = stranger("GET", "/v2/docs").text

    assert "/v2/language/intent" in text
    for word in ("http://", "https://", "<script", "src=", "@import"):
        assert word not in text
