"""The front is killed while many callers send calls with one idempotency key."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.killing import IS_LONG, ROUNDS, kill
from tests.flows.world import World
from tests.local_stack import LocalStack

CALLS, THREADS = (1_000 if IS_LONG else 256), 32
LEASE = 1.5
"""Seconds for which a call that died keeps its key, in this stack."""


@pytest.mark.timeout(300 + 120 * ROUNDS)
def test_one_key_is_one_dataset_though_the_front_is_killed(stack: LocalStack, world: World) -> None:
    """Despite a kill, calls with one key from 32 threads create one dataset and get one answer."""
    chance, client = random.Random(20), world.caller("GOLD")
    for number in range(ROUNDS):
        before = len(client.items(f"{LANGUAGE}/datasets"))
        answers: list[tuple[int, str]] = []
        end = threading.Event()
        most = 1.0 if IS_LONG else 0.2
        killing = threading.Thread(
            target=_kill_after, args=(stack, chance.uniform(0.05, most), end)
        )
        killing.start()
        with ThreadPoolExecutor(THREADS) as pool:
            portions = [(client, f"key-{number}", CALLS // THREADS)] * THREADS
            for found in pool.map(_send, portions):
                answers += found
        end.set()
        killing.join()
        final = _last(client, f"key-{number}")
        assert {status for status, _ in answers} <= {200, 409}
        assert {text for status, text in answers if status == 200} <= {final}
        assert len(client.items(f"{LANGUAGE}/datasets")) == before + 1, number


def _send(portion: tuple[Client, str, int]) -> list[tuple[int, str]]:
    """Send the same call repeatedly; skip calls without an answer."""
    client, key, count = portion
    answers: list[tuple[int, str]] = []
    with client.clone() as mine:
        for _ in range(count):
            with contextlib.suppress(OSError, http.client.HTTPException):
                answers.append(_create(mine, key))
    return answers


def _create(client: Client, key: str) -> tuple[int, str]:
    body: dict[str, Any] = {"name": key, "type": "text-intent", "labels": "a,b"}
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    answer = client.send("POST", f"{LANGUAGE}/datasets", json.dumps(body), headers)
    return answer.status, answer.body.decode()


def _last(client: Client, key: str) -> str:
    """Return the answer after every lease has ended."""
    deadline = time.monotonic() + 20 * LEASE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, text = _create(client, key)
            if status == 200:
                return text
        time.sleep(0.1)
    raise AssertionError("the key was never answered")


def _kill_after(stack: LocalStack, seconds: float, end: threading.Event) -> None:
    """Kill the front once, unless all calls have ended before."""
    if not end.wait(seconds):
        kill(stack, "front")
