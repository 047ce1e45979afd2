"""Occasional throttling of tables causes no 503 and no wrong counts."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from chalicelib.stores.accounts import quotas
from tests.api.conftest import Caller
from tests.api.prepared import DATASET_ID, DELIVERY, EXAMPLES, MODEL_ID, PREDICTIONS, USED, Prepared
from tests.faults.aws import throttled
from tests.faults.conftest import NoWaiting
from tests.full_size import size
from tests.held import answering

CALLS = size(500, 2_000)
SHARE = 0.05
LANGUAGE = "/v2/language"
DATASET = f"{LANGUAGE}/datasets/{DATASET_ID}"
READS = (
    "/v2/apiusage",
    f"{LANGUAGE}/datasets",
    DATASET,
    f"{DATASET}/models",
    f"{DATASET}/receipts",
    f"{LANGUAGE}/models",
    f"{LANGUAGE}/train/{MODEL_ID}",
    f"{LANGUAGE}/models/{MODEL_ID}/card",
)
# Examples that a call for review shows.
SHOWN = 3


@pytest.fixture
def refused(world: Prepared, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Throttle one table call in twenty; return the calls that were refused."""
    from tests.quick_aws import keep_clients, make_requests

    monkeypatch.setattr(quotas, "PAUSES", (0.0,) * len(quotas.PAUSES))
    monkeypatch.setattr("botocore.endpoint.time", NoWaiting)
    draw = random.Random(7)
    gone: list[str] = []
    answer = answering()

    def send(event_name: str, request: Any, **_: Any) -> Any:
        if draw.random() >= SHARE:
            return answer(event_name, request)
        gone.append(request.url)
        return throttled(request, "dynamodb")

    keep_clients()
    clients = world.stores.clients
    for client in (clients.dynamodb, clients.dynamodb_once):
        make_requests(client, send)
    return gone


def make_call(call: Caller, kind: str, number: int) -> int:
    """Make a call of a kind; return its status."""
    asked = {"modelId": MODEL_ID, "document": f"refund {number}"}
    if kind == "predict":
        return call.json("POST", f"{LANGUAGE}/intent", **asked).status
    if kind == "list":
        return call("GET", f"{DATASET}/examples?count=1").status
    if kind == "review":
        return call("GET", f"{DATASET}/browse?labelId={DELIVERY}&count={SHOWN}").status
    if kind == "add":
        return call.json("POST", f"{DATASET}/examples", document=f"{number}", label="refund").status
    if kind == "correct":
        asked["expectedLabel"] = "delivery"
        return call.json("POST", f"{LANGUAGE}/feedback", **asked).status
    return call("GET", READS[number % len(READS)]).status


def test_throttles_are_neither_503_nor_miscounted(
    call: Caller, world: Prepared, refused: list[str]
) -> None:
    """With 5 % of all table calls throttled, each request is answered and counted."""
    world.stores.accounts.set_example_calls(world.account.account_id, CALLS)
    kinds = ["predict", "list", "review", "read", "add", "correct"]
    chosen = random.Random(15).choices(kinds, [8, 2, 2, 5, 1, 1], k=CALLS)

    statuses = Counter((kind, make_call(call, kind, n)) for n, kind in enumerate(chosen))

    assert statuses == {(kind, 200): chosen.count(kind) for kind in kinds}
    assert len(refused) > SHARE * CALLS
    assert world.used(PREDICTIONS) == USED + chosen.count("predict")
    assert world.used(EXAMPLES) == chosen.count("list")
