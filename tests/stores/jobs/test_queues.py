"""If a queue fails, requests succeed, since the sweep finds their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.config import Settings
from chalicelib.domain.jobs.deletion import DATASET, deletion_of
from chalicelib.domain.jobs.messages import DeleteJob
from chalicelib.errors import LeaseLost, StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.jobs.queues import DELETE, Queues, retried_by_sweep

JOB = DeleteJob.of(deletion_of("1", DATASET, "7", "language"))


def test_failing_queue_is_logged_and_left_to_the_sweep(
    clients: Clients, settings: Settings, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    """A failing queue fails no request; the log line has the job's kind and ids."""
    queues = Queues(replace(settings, name="elsewhere"), clients)

    with retried_by_sweep("delete", deletion="abc"):
        queues.send(DELETE, JOB)

    [line] = lines()
    assert (line["event"], line["level"]) == ("enqueue_failed", "WARNING")
    assert (line["job"], line["deletion"]) == ("delete", "abc")
    with pytest.raises(StorageUnavailable):
        queues.send(DELETE, JOB)


def test_other_errors_are_raised() -> None:
    """Errors other than those of the queue are raised."""
    with pytest.raises(LeaseLost), retried_by_sweep("delete"):
        raise LeaseLost
