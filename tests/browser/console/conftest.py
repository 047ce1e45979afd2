"""Open the console in a browser, and record its requests and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect

from tests.live import SHOP, Caller, Live

TRAINED_MS = 120_000
"""Longest wait for a training or an upload, in milliseconds."""
SEEN_MS = 30_000
"""Longest wait for anything on a page, also on a busy machine, in milliseconds."""
expect.set_options(timeout=SEEN_MS)
_NUMBERS = itertools.count(1)


@dataclass
class Console:
    """One page of the console with its recorded requests, errors and actions."""

    page: Page
    live: Live
    bucket: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    actions: int = 0

    def __post_init__(self) -> None:
        """Start recording."""
        self.page.set_default_timeout(SEEN_MS)
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda said: (
                said.type == "error"
                and self.errors.append(f"{said.text} {said.location.get('url')}")
            ),
        )

    def _note(self, url: str) -> None:
        own = (f"{self.live.url}/", f"{self.bucket}/", "data:", "blob:")
        if not url.startswith(own) and url != self.bucket:
            self.outside.append(url)

    def enter(self, caller: Caller, place: str = "datasets") -> None:
        """Sign in with the link that `make run` prints, and go to a page."""
        self.follow_link(caller)
        self.page.wait_for_selector("nav")
        self.go(place)

    def follow_link(self, caller: Caller, page: Page | None = None) -> None:
        """Open a link with a token, and agree to use it."""
        page = page or self.page
        page.goto(f"{self.live.url}/console#token={caller.token}")
        page.get_by_role("button", name="Yes", exact=True).click()

    def go(self, place: str) -> None:
        """Go to a page of the console."""
        self.page.evaluate("place => { location.hash = `#/${place}` }", place)
        self.page.wait_for_selector("h1")

    def press(self, *keys: str) -> None:
        """Press keys one after the other; each counts as an action."""
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type a text; it counts as one action."""
        self.actions += 1
        self.page.keyboard.type(text)

    def wait_focus(self, text: str) -> None:
        """Wait until the focused element contains this text."""
        self.page.wait_for_function(
            "text => document.activeElement?.textContent.includes(text)", arg=text,
            timeout=TRAINED_MS,
        )  # fmt: skip

    def overhang(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture
def console(page: Page, live: Live) -> Iterator[Console]:
    """The console; a test fails if it calls another origin or reports an error."""
    bucket = f"{live.settings.endpoint_url}/{live.settings.bucket}"
    made = Console(page, live, bucket)
    yield made
    assert (made.outside, made.errors) == ([], [])


@pytest.fixture
def newcomer(live: Live) -> Callable[..., Caller]:
    """Return a function that creates empty accounts."""
    return lambda **more: live.caller(f"newcomer{next(_NUMBERS)}", **more)


@pytest.fixture(scope="session")
def owner(live: Live) -> Caller:
    """An account with a text dataset and a model trained on it."""
    caller = live.caller("console")
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    model = caller.train(dataset["id"], name="shop model").ok()
    assert caller.trained(model["modelId"])["status"] == "SUCCEEDED"
    return caller
