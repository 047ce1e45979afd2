"""Run Chromium, and record its requests and console messages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.live import Live, shared

CHROMIUM = os.environ.get("PRESAGE_BROWSER", "")
"""Path of the browser. Without it tests/conftest.py collects nothing here."""
FLAGS = (
    "--no-sandbox",  # containers run as root, for whom Chromium has no sandbox
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
READY_MS = 60_000


@dataclass
class Watched:
    """The API reference in a browser."""

    page: Page
    url: str
    """Address of the service."""
    outside: list[str] = field(default_factory=list)
    """Requested URLs of other origins."""
    errors: list[str] = field(default_factory=list)
    """Console messages and uncaught errors."""

    def open(self, width: int, height: int) -> None:
        """Open the API reference in a window of `width` x `height` pixels."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("console", lambda said: self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{self.url}/v2/docs")
        self.page.wait_for_selector(".opblock", timeout=READY_MS)

    def _note(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", "data:", "blob:")):
            self.outside.append(url)

    def overhang(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest, closed_network: None) -> Live:
    """A running stack."""
    return shared(request.config)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Return how Chromium is started; each test has a separate profile."""
    return {"executable_path": CHROMIUM, "args": [*FLAGS]}


@pytest.fixture
def docs(page: Page, live: Live) -> Iterator[Watched]:
    """The API reference; a test fails if it calls another origin or logs anything."""
    made = Watched(page, live.url)
    yield made
    assert (made.outside, made.errors) == ([], [])
