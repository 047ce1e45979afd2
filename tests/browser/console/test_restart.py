"""Tests of the console while the service restarts."""

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
    """Return an unused port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class RestartableStack(Live):
    """A separate stack that has the same data and address after a restart."""

    def __init__(self) -> None:
        super().__init__()
        self.stack.stop()
        ports = {"PRESAGE_PORT": str(free_port()), "PRESAGE_AWS_PORT": str(free_port())}
        self.stack = LocalStack(arguments=["--bare"], environment=ports)


@pytest.fixture
def restartable() -> Iterator[RestartableStack]:
    """A stack that a test may stop."""
    made = RestartableStack()
    yield made
    made.stop()


def test_labels_survive_a_restart(page, restartable):
    """Labels given while the service is down are saved after its restart."""
    caller = restartable.caller("patient")
    dataset = caller.upload(two_labels(20)).ok()
    place = f"/v2/language/datasets/{dataset['id']}"
    bucket = f"{restartable.settings.endpoint_url}/{restartable.settings.bucket}"
    console = Console(page, restartable, bucket)
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.wait_for_selector(".item .text")
    console.press(*["2"] * 5)
    page.wait_for_selector("text=Saved")

    url = restartable.url
    restartable.stack.pause()
    console.press(*["2"] * 5)
    expect(page.get_by_text("The service is not responding")).to_be_visible()
    expect(page.get_by_text("Saving")).to_be_visible()
    restartable.stack.start()
    assert restartable.stack.url == url
    expect(page.get_by_text("The service is not responding")).to_be_hidden()
    expect(page.get_by_text("Saved")).to_be_visible()

    labels = caller.get(place).ok()["labelSummary"]["labels"]
    assert sorted(one["numExamples"] for one in labels if one["numExamples"]) == [20]
    moved = [one["moved"] for one in caller.get(f"{place}/corrections").ok()["data"]]
    assert sum(moved) == 10
    console.go("models")
    expect(page.get_by_text("There are no models yet")).to_be_visible()
    assert console.outside == []
