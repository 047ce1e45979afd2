"""Chromium of this machine, watched: what it asks for, and what its console says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.live import Live, shared

CHROMIUM = os.environ.get("PRESAGE_BROWSER", "")
"""The program. Without the variable nothing here is collected: tests/conftest.py."""
FLAGS = (
    "--no-sandbox",  # Chromium has none for root, as whom containers run
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
    """The docs as a browser shows them."""

    page: Page
    url: str
    """Address of the service."""
    outside: list[str] = field(default_factory=list)
    """Addresses elsewhere that were asked for."""
    complaints: list[str] = field(default_factory=list)
    """What the console said, and errors that nobody caught."""

    def open(self, width: int, height: int) -> None:
        """Open the docs in a window of a size, in pixels."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{self.url}/v2/docs")
        self.page.wait_for_selector(".opblock", timeout=READY_MS)

    def _note(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", "data:", "blob:")):
            self.outside.append(url)

    def overhang(self) -> int:
        """Tell by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest, closed_network: None) -> Live:
    """A running stack."""
    return shared(request.config)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """How Chromium is started; each test has a profile of its own."""
    return {"executable_path": CHROMIUM, "args": [*FLAGS]}


@pytest.fixture
def docs(page: Page, live: Live) -> Iterator[Watched]:
    """The docs; a test fails when they asked for anything elsewhere, or the console spoke."""
    made = Watched(page, live.url)
    yield made
    assert (made.outside, made.complaints) == ([], [])
