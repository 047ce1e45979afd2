"""A lease is renewed while its owner works, and a stalled owner is stopped."""

from __future__ import annotations

import threading
import time

import pytest

from chalicelib.errors import LeaseLost, StorageUnavailable
from chalicelib.stores.jobs.heartbeats import Heartbeat

LEASE_SECONDS = 0.3


def test_lease_is_renewed_while_the_owner_works() -> None:
    """The owner keeps its lease for longer than one lease lasts."""
    renewed = threading.Semaphore(0)

    with Heartbeat(renewed.release, LEASE_SECONDS) as beat:
        for _ in range(6):
            assert renewed.acquire(timeout=60)
        beat.check()


def test_owner_stops_when_another_took_over() -> None:
    """The next check after a refused renewal stops the owner."""
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
    """A machine that stood still for longer than a lease costs no work: the lease is renewed."""
    renewed: list[int] = []
    beat = Heartbeat(lambda: renewed.append(1), LEASE_SECONDS)
    time.sleep(2 * LEASE_SECONDS)

    beat.check()
    beat.check()

    assert renewed == [1]


def test_owner_continues_after_a_slow_renewal() -> None:
    """A machine without a free processor is slow with everything: that alone loses no job."""
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
    """When the storage does not answer for a whole lease, the owner takes it for lost."""
    tries = threading.Semaphore(0)

    def renew() -> None:
        """Be out of reach."""
        tries.release()
        raise StorageUnavailable

    with Heartbeat(renew, LEASE_SECONDS) as beat:
        for _ in range(3):
            assert tries.acquire(timeout=60)

        with pytest.raises(LeaseLost):
            beat.check()
