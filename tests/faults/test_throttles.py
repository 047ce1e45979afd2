"""Tables that throttle now and then cost callers nothing: no 503, and exact counts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from moto.core.models import botocore_stubber

from chalicelib.domain.accounts.usage import PREDICTIONS, month_key
from chalicelib.stores.accounts import quotas
from tests.builders import World, some_rows
from tests.faults.aws import throttled
from tests.quick_aws import keep_clients

CALLS = 500
SHARE = 0.05


@pytest.mark.usefixtures("without_pauses", "quick_engine")
def test_throttles_are_neither_503_nor_miscounted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 5 % of all calls of tables throttled, 500 predictions are answered and counted."""
    monkeypatch.setattr(quotas, "PAUSES", (0.0,) * 7)
    paid = world.new_account("paid@example.com", "GOLD")
    model = world.model(world.dataset(some_rows({"book": 5, "cancel": 5})))
    draw = random.Random(7)
    refused: list[str] = []

    def send(event_name: str, request: Any, **_: Any) -> Any:
        """Refuse one call in twenty, without making it."""
        if draw.random() >= SHARE:
            return botocore_stubber(event_name, request)
        refused.append(request.url)
        return throttled(request, "dynamodb")

    keep_clients()
    for client in (world.stores.clients.dynamodb, world.stores.clients.dynamodb_once):
        client.meta.events.unregister("before-send", botocore_stubber)
        client.meta.events.register("before-send", send)

    for number in range(CALLS):
        found = world.container.served_models.find(model.account_id, model.model_id)
        world.container.predictions.answer(
            paid, found, f"book {number}", dataset_type="text-intent"
        )

    month = month_key(world.clock())
    assert len(refused) > SHARE * CALLS
    assert world.stores.quotas.used(paid.account_id, PREDICTIONS, month) == CALLS
