"""Workers are killed during rankings."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.flows.client import LANGUAGE, Client, opened
from tests.flows.kills.killing import (
    IS_LONG,
    ROUNDS,
    has_lines_done,
    kill,
    wait,
    wait_for_moment,
)
from tests.flows.test_batches import ENDED
from tests.flows.test_rankings import USAGE, used
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

LINES = 3_500 if IS_LONG else 350
"""Four parts, of 1,000 lines in the long tier and of 100 in the short one."""
EMPTY = frozenset(range(7, LINES, LINES // 3))
"""Lines without a text."""
SECONDS = 300.0
"""Longest wait for a ranking."""


@pytest.mark.timeout(600 + 60 * ROUNDS)
def test_a_ranking_whose_workers_are_killed_is_the_same(stack: LocalStack, world: World) -> None:
    """Every line counts once, and the result equals that of an undisturbed ranking."""
    chance, client = random.Random(23), world.caller("GOLD", example_calls=1_000_000)
    model_id = client.model(int(client.dataset(csv_file(made_rows(60)))["id"]))
    results = []
    for rounds in (0, ROUNDS):
        before = used(client.get(USAGE).ok)
        made = _send(client, model_id)
        for _ in range(rounds):
            wait_for_moment(lambda made=made: has_lines_done(client, made["id"]), chance, 0.2, 1.5)
            kill(stack, "ingest")
        place = f"{LANGUAGE}/batches/{made['id']}"
        done = client.wait(place, lambda seen: seen["status"] in ENDED, SECONDS)[-1]
        assert (done["status"], done["counts"]) == (
            "SUCCEEDED",
            {"total": LINES, "done": LINES, "failed": len(EMPTY)},
        )
        with opened(done["resultUrl"]) as answer:
            results.append(answer.read())
        after = before + LINES - len(EMPTY)
        wait(lambda after=after: used(client.get(USAGE).ok) == after)
    lines = [json.loads(line) for line in results[0].splitlines()]
    assert len({line["id"] for line in lines}) == len(lines) == 50
    assert results[0] == results[1]


def _send(client: Client, model_id: str) -> dict[str, Any]:
    """Request a ranking of many texts, some of them empty."""
    texts = ("" if n in EMPTY else f"number {n}" for n in range(LINES))
    sent = "".join(json.dumps({"text": text, "id": f"n{n}"}) + "\n" for n, text in enumerate(texts))
    fields, files = {"modelId": model_id, "count": 50}, {"data": ("n.jsonl", sent.encode())}
    return dict(client.multipart("POST", f"{LANGUAGE}/rankings", fields, files).ok)
