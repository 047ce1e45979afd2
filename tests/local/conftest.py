"""A running stack around the tiny application, shared by the tests of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.wire import TINY, Diary
from tests.local_stack import LocalStack


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Diary:
    """The notes of the tiny application."""
    return Diary(tmp_path_factory.mktemp("diary") / "notes.txt")


@pytest.fixture(scope="module")
def stack(diary: Diary) -> Iterator[LocalStack]:
    """The local stack with the tiny application."""
    environment = {
        "TINY_DIARY": str(diary.path),
        "PRESAGE_SWEEP_SECONDS": "0.5",
        "PRESAGE_VISIBILITY_SECONDS": "3",
    }
    with LocalStack(TINY, environment=environment) as running:
        yield running


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[LocalStack]:
    """A separate stack for one test."""
    environment = {"TINY_DIARY": str(tmp_path / "notes.txt"), "PRESAGE_NICENESS": "3"}
    with LocalStack(TINY, environment=environment) as running:
        yield running


@pytest.fixture
def send(stack: LocalStack) -> Callable[..., Any]:
    """Send a message to a queue by its short name."""
    sqs = stack.client("sqs")

    def call(queue: str, body: str, **options: Any) -> Any:
        """Send one message."""
        url = sqs.get_queue_url(QueueName=f"presage-{queue}")["QueueUrl"]
        return sqs.send_message(QueueUrl=url, MessageBody=body, **options)

    return call
