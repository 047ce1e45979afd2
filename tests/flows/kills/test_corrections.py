"""The front is killed during corrections."""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
import time
from collections import Counter
from typing import Any

import pytest

from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.killing import ROUNDS, kill, wait
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

ROWS = 1_500
LONGEST = 2.0
"""Seconds within which the corrections of one call have ended."""


def labels_of(client: Client, dataset_id: int) -> dict[int, str]:
    """Return the label of each example by its id."""
    path = f"{LANGUAGE}/datasets/{dataset_id}/browse"
    pages = [client.get(f"{path}?offset={start}").ok["data"] for start in range(0, ROWS, 100)]
    return {one["id"]: one["label"]["name"] for page in pages for one in page}


def counted(client: Client, dataset_id: int) -> dict[str, int]:
    """Return the example counts of the label records."""
    summary = client.get(f"{LANGUAGE}/datasets/{dataset_id}").ok["labelSummary"]["labels"]
    return {label["name"]: label["numExamples"] for label in summary}


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_corrections_that_are_killed_are_all_there_or_none(stack: LocalStack, world: World) -> None:
    """After a kill all corrections are applied or none; no example is lost; the next call works."""
    chance, client = random.Random(11), world.caller("GOLD", example_calls=1_000_000)
    dataset_id = int(client.dataset(csv_file(made_rows(ROWS)))["id"])
    before = labels_of(client, dataset_id)
    first, second, *_ = sorted(set(before.values()))
    swapped = {first: second, second: first}
    path = f"{LANGUAGE}/datasets/{dataset_id}/corrections"
    for number in range(ROUNDS):
        wanted = {one: swapped.get(label, label) for one, label in before.items()}
        body: dict[str, Any] = {
            "corrections": [
                {"exampleId": one, "label": wanted[one]}
                for one, label in before.items()
                if wanted[one] != label
            ]
        }
        call = threading.Thread(target=_send_without_answer, args=(client.clone(), path, body))
        call.start()
        time.sleep(chance.uniform(0.0, LONGEST))
        kill(stack, "front")
        call.join()
        wait(lambda: _is_up(client))

        after = labels_of(client, dataset_id)
        assert after in (before, wanted), number
        assert counted(client, dataset_id) == Counter(after.values())
        before = after
    done = client.json("POST", path, body)
    assert done.status == 200, done.body


def _send_without_answer(client: Client, path: str, body: dict[str, Any]) -> None:
    """Make a call whose answer may never come."""
    with client, contextlib.suppress(OSError, http.client.HTTPException):
        client.json("POST", path, body)


def _is_up(client: Client) -> bool:
    try:
        return client.get("/v2/health").status == 200
    except (OSError, http.client.HTTPException):
        return False
