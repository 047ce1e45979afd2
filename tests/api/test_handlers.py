"""The queues' door: each handler hands its message on, with the time that is left."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

import app as module


class Jobs:
    """Services that remember their jobs."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Any]] = []

    def container(self) -> SimpleNamespace:
        """Arrange them as the container does."""

        def named(name: str) -> SimpleNamespace:
            return SimpleNamespace(run=lambda *facts: self.done.append((name, facts)))

        names = ("ingest", "training_runs", "deletion_runs", "sweeping")
        return SimpleNamespace(**{name: named(name) for name in names})


@pytest.fixture
def jobs():
    """Remembering services behind the handlers."""
    found = Jobs()
    module.app.container = found.container()
    yield found.done
    module.app.container = None


def sqs(*bodies: str) -> dict[str, Any]:
    """Write the event of a queue."""
    return {"Records": [{"body": body, "receiptHandle": "h"} for body in bodies]}


CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 12_500)


@pytest.mark.parametrize(
    ("handler", "service"),
    [
        ("ingest_upload", "ingest"),
        ("train_paid", "training_runs"),
        ("train_free", "training_runs"),
        ("delete_object", "deletion_runs"),
    ],
)
def test_messages_are_handed_on(jobs, handler, service):
    """The message's JSON reaches the service of its queue."""
    job = {"job": "ingest", "model_id": "A" * 26}

    getattr(module, handler)(sqs(json.dumps(job)), CONTEXT)

    ((name, facts),) = jobs
    assert (name, facts[0]) == (service, job)


def test_trainings_know_the_time_that_is_left(jobs):
    """The function's remaining time is given in seconds."""
    module.train_paid(sqs("{}"), CONTEXT)

    assert jobs[0][1][1]() == 12.5


def test_sweep_runs_on_schedule(jobs):
    """The schedule calls the sweep."""
    event = {
        **dict.fromkeys(("version", "account", "region", "detail", "source", "time", "id"), ""),
        "detail-type": "Scheduled Event",
        "resources": [],
    }

    module.sweep(event, CONTEXT)

    assert [name for name, _ in jobs] == ["sweeping"]
