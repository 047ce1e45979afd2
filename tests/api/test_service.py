"""Health and the description of the service, for callers without a token."""

from __future__ import annotations

import pytest


def test_health_names_the_engines(call):
    """Health needs no token."""
    answer = call("GET", "/v2/health", authorization="")

    assert answer.json == {
        "status": "ok",
        "version": "0.2.0",
        "engines": {"text-fast": "ready"},
        "engineParts": [
            {"name": "minilm", "state": "loaded", "title": "MiniLM", "sha256": "ab" * 32}
        ],
    }


@pytest.mark.parametrize("url", ["/v2/openapi.json", "/v2/docs"])
def test_description_needs_neither_token_nor_storage(call, url):
    """The description is served without a container."""
    import app as module

    def broken():
        raise RuntimeError("no container is needed")

    module.app.container, kept = None, module.app._make_container
    module.app._make_container = broken
    try:
        assert call("GET", url, authorization="").status == 200
    finally:
        module.app._make_container = kept


def test_page_loads_nothing_from_elsewhere(call):
    """The page is one file that names every path."""
    text = call("GET", "/v2/docs").text

    assert "/v2/language/intent" in text
    for word in ("http://", "https://", "<script", "src=", "@import"):
        assert word not in text
