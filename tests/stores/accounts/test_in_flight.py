"""Simultaneous work of an account is limited, and crashed processes do not count."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.errors import MachineBusy, RateExceeded
from chalicelib.stores.accounts.in_flight import (
    DOCUMENTS,
    DOWNLOADS,
    DOWNLOADS_OF_A_PROCESS,
    InFlight,
)
from infra.local.http.server import THREADS


@pytest.fixture
def make(clients, clock, settings):
    """A function that makes processes which share only the table."""
    limited = replace(settings, max_downloads=3, max_documents=1)
    return lambda: InFlight(limited, clients, clock)


def test_limit_holds_across_processes(make) -> None:
    """Across processes three calls run at a time; a fourth is refused until one ends."""
    with ExitStack() as running:
        for _ in range(3):
            running.enter_context(make().running("2", DOWNLOADS))

        with pytest.raises(RateExceeded, match="3 downloads of this account are") as one:
            running.enter_context(make().running("2", DOWNLOADS))
        assert (one.value.code, one.value.retry_after_seconds) == ("rate_exceeded", 2)
        running.enter_context(make().running("2", DOCUMENTS))
        running.enter_context(make().running("3", DOWNLOADS))

    with make().running("2", DOWNLOADS):
        pass


def test_downloads_of_many_accounts_leave_threads(make) -> None:
    """One process reads at most 12 files for all accounts at a time.

    That is half of what the local stack works on at the same time; another process has room.
    """
    process = make()
    with ExitStack() as running:
        for number in range(DOWNLOADS_OF_A_PROCESS):
            running.enter_context(process.downloading(str(number)))

        with pytest.raises(MachineBusy, match="The file behind the URL was not read") as one:
            running.enter_context(process.downloading("x"))
        assert (one.value.status, one.value.retry_after_seconds) == (503, 2)
        with make().downloading("x"):
            pass
    for _ in range(5):
        with process.downloading("x"):
            pass
    assert DOWNLOADS_OF_A_PROCESS <= THREADS // 2


def test_failed_work_frees_its_place(make) -> None:
    """Failed work releases its slot."""
    for _ in range(5):
        with pytest.raises(ValueError, match="broken"), make().running("2", DOCUMENTS):
            raise ValueError("broken")


def test_dead_processes_free_their_places(make, clock) -> None:
    """Slots of a crashed process are released after a minute."""
    dead = [make().running("2", DOWNLOADS) for _ in range(3)]
    for each in dead:
        each.__enter__()

    clock.advance(seconds=59)
    with pytest.raises(RateExceeded), make().running("2", DOWNLOADS):
        pass
    clock.advance(seconds=1)
    with make().running("2", DOWNLOADS):
        pass


def test_unavailable_row_refuses_no_work(make, clients, monkeypatch, lines) -> None:
    """If the table cannot be written, work continues and a warning is logged."""
    process = make()

    def fail(*_: object, **__: object) -> None:
        """Lose the connection."""
        raise EndpointConnectionError(endpoint_url="https://dynamodb.example")

    monkeypatch.setattr(clients.dynamodb_once, "_make_api_call", fail)
    for _ in range(3):
        with process.running("2", DOCUMENTS):
            pass
    events = [line["event"] for line in lines()]
    assert events == ["in_flight_unknown", "in_flight_left"] * 3
