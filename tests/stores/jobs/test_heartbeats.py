"""A lease is renewed while its owner works; an owner that lost it is stopped."""

from __future__ import annotations

import threading
import time

import pytest

from chalicelib.errors import LeaseLost, StorageUnavailable
from chalicelib.stores.jobs.heartbeats import Heartbeat

LEASE_SECONDS = 0.3


def test_lease_is_renewed_while_the_owner_works() -> None:
    """Renewal keeps the lease for longer than its duration."""
    renewed = threading.Semaphore(0)

    with Heartbeat(renewed.release, LEASE_SECONDS) as beat:
        for _ in range(6):
            assert renewed.acquire(timeout=60)
        beat.check()


def test_owner_stops_when_another_took_over() -> None:
    """After a refused renewal the next check stops the owner."""
    asked = threading.Event()

    def renew() -> None:
        """Refuse."""
        asked.set()
        raise LeaseLost

    with Heartbeat(renew, LEASE_SECONDS) as beat:
        beat.check()
        assert asked.wait(timeout=60)
        beat._thread.join(timeout=60)

        with pytest.raises(LeaseLost):
            beat.check()


def test_stalled_owner_continues_while_its_job_is_unassigned() -> None:
    """A machine that stalls for longer than a lease continues if no one else took the job."""
    renewed: list[int] = []
    beat = Heartbeat(lambda: renewed.append(1), LEASE_SECONDS)
    time.sleep(2 * LEASE_SECONDS)

    beat.check()
    beat.check()

    assert renewed == [1]


def test_owner_continues_after_a_slow_renewal() -> None:
    """A slow renewal alone does not lose the job."""
    answers: list[float] = []

    def renew() -> None:
        time.sleep(0.3)
        answers.append(time.monotonic())

    with Heartbeat(renew, 0.1) as heartbeat:
        for _ in range(3):
            time.sleep(0.15)
            heartbeat.check()
    assert answers


def test_owner_stops_when_no_renewal_succeeds() -> None:
    """If storage does not answer for a whole lease, the owner stops."""
    tries = threading.Semaphore(0)

    def renew() -> None:
        """Raise StorageUnavailable."""
        tries.release()
        raise StorageUnavailable

    with Heartbeat(renew, LEASE_SECONDS) as beat:
        for _ in range(3):
            assert tries.acquire(timeout=60)

        with pytest.raises(LeaseLost):
            beat.check()
