"""The service stops in the middle of work, and starts again on the same data."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.test_session import two_labels
from tests.live import Live
from tests.local_stack import LocalStack


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Mortal(Live):
    """A stack of a test's own, which keeps its data and its address when it starts again."""

    def __init__(self) -> None:
        super().__init__()
        self.stack.stop()
        ports = {"PRESAGE_PORT": str(free_port()), "PRESAGE_AWS_PORT": str(free_port())}
        self.stack = LocalStack(arguments=["--bare"], environment=ports)


@pytest.fixture
def mortal() -> Iterator[Mortal]:
    """A stack that a test may stop."""
    made = Mortal()
    yield made
    made.stop()


def test_work_goes_on_when_the_service_is_back(page, mortal):
    """Labels given while no process serves are kept, told, and sent to the one that follows."""
    caller = mortal.caller("patient")
    dataset = caller.upload(two_labels(20)).ok()
    place = f"/v2/language/datasets/{dataset['id']}"
    bucket = f"{mortal.settings.endpoint_url}/{mortal.settings.bucket}"
    console = Console(page, mortal, bucket)
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.wait_for_selector(".item .text")
    console.press(*["2"] * 5)
    page.wait_for_selector("text=Saved")

    url = mortal.url
    mortal.stack.pause()
    console.press(*["2"] * 5)
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    expect(page.get_by_text("Saving")).to_be_visible()
    mortal.stack.start()
    assert mortal.stack.url == url
    expect(page.get_by_text("The service does not answer")).to_be_hidden()
    expect(page.get_by_text("Saved")).to_be_visible()

    labels = caller.get(place).ok()["labelSummary"]["labels"]
    assert sorted(one["numExamples"] for one in labels if one["numExamples"]) == [20]
    moved = [one["moved"] for one in caller.get(f"{place}/corrections").ok()["data"]]
    assert sum(moved) == 10
    console.go("models")
    expect(page.get_by_text("There is no model yet")).to_be_visible()
    assert console.outside == []
