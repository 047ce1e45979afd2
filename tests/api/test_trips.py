"""The sequential and parallel AWS calls of a prediction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.services.predictions.texts import PredictionService
from tests.api.prepared import MODEL_ID, PREDICTIONS

URL = "/v2/language/intent"
UNKNOWN = "A" * 26


@pytest.fixture
def trips(world) -> Iterator[list[str]]:
    """Record the calls of DynamoDB in order."""
    made: list[str] = []

    def note(model: Any, **_: Any) -> None:
        """Record one call."""
        made.append(model.name)

    clients = world.container.stores.clients
    every = [client.meta.events for client in (clients.dynamodb, clients.dynamodb_once)]
    for events in every:
        events.register("before-call", note)
    yield made
    for events in every:
        events.unregister("before-call", note)


def test_warm_prediction_makes_two_trips(call, world, trips):
    """A warm prediction makes two DynamoDB calls: one read and one count."""
    fields = {"modelId": MODEL_ID, "document": "delivery please"}
    assert call.json("POST", URL, **fields).status == 200
    trips.clear()

    assert call.json("POST", URL, **fields).status == 200

    assert trips == ["BatchGetItem", "UpdateItem"]
    assert world.used(PREDICTIONS) == 12


def test_call_is_counted_while_the_encoder_runs(call, world, trips, monkeypatch):
    """The counting call starts before the encoder has finished."""
    predict, counted = PredictionService._answers, threading.Event()
    reserve = world.container.stores.quotas.reserve
    monkeypatch.setattr(
        world.container.stores.quotas,
        "reserve",
        lambda *given: (reserve(*given), counted.set())[0],
    )

    def wait(*given: Any) -> Any:
        """Predict only after the call was counted."""
        assert counted.wait(60)
        return predict(*given)

    monkeypatch.setattr(PredictionService, "_answers", wait)

    assert call.json("POST", URL, modelId=MODEL_ID, document="delivery please").status == 200


def test_used_up_quota_does_no_work(call, world, monkeypatch):
    """The first refused call discards its work; later ones are refused before any work."""
    worked, predict = [], PredictionService._answers
    monkeypatch.setattr(
        PredictionService, "_answers", lambda *given: worked.append(1) or predict(*given)
    )
    world.use(PREDICTIONS, 2000)

    answers = [call.json("POST", URL, modelId=MODEL_ID, document="a") for _ in range(3)]

    assert [answer.status for answer in answers] == [429] * 3
    assert (len(worked), world.used(PREDICTIONS)) == (1, 2000)


@pytest.mark.parametrize(
    ("authorization", "model_id", "body", "status"),
    [
        ("Bearer wrong", MODEL_ID, b"{", 401),
        (None, UNKNOWN, b'{"modelId": "%b", "numResults": 0}' % UNKNOWN.encode(), 404),
        (None, MODEL_ID, b"{", 400),
        (None, MODEL_ID, b'{"modelId": "../x", "document": "a"}', 404),
        (None, MODEL_ID, b'{"modelId": "%b"}' % MODEL_ID.encode(), 400),
    ],
)
def test_body_is_read_early_and_validated_late(call, authorization, model_id, body, status):
    """Reading the model's id early does not change the order of the checks."""
    headers = {} if authorization is None else {"authorization": authorization}

    answer = call("POST", URL, body, "application/json", **headers)

    assert answer.status == status


def test_foreign_token_reads_no_body_and_no_row(call, trips, monkeypatch):
    """An unknown token is refused without reading the body or any row."""
    monkeypatch.setattr("chalicelib.web.operations.operation.read_fields", None)

    answer = call("POST", URL, b"{", "application/json", authorization="Bearer wrong")

    assert (answer.status, trips) == (401, [])


def test_rows_that_a_read_omits_are_requested_again(call, world, monkeypatch):
    """Keys that a busy table leaves unprocessed are requested again."""
    client = world.container.stores.clients.dynamodb
    ask, asked = client.batch_get_item, []

    def answer_a_part(RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - AWS's name
        """Leave one table's keys unprocessed the first time."""
        asked.append(sorted(RequestItems))
        if len(asked) > 1:
            return ask(RequestItems=RequestItems)
        first, *others = RequestItems
        left = {name: RequestItems[name] for name in others}
        return {**ask(RequestItems={first: RequestItems[first]}), "UnprocessedKeys": left}

    monkeypatch.setattr(client, "batch_get_item", answer_a_part)

    answer = call.json("POST", URL, modelId=MODEL_ID, document="delivery please")

    assert answer.status == 200
    assert [len(tables) for tables in asked] == [2, 1]


def test_read_that_stays_incomplete_is_a_503(call, world, monkeypatch):
    """If a row cannot be read, the answer is a 503 and not a 401."""
    monkeypatch.setattr("chalicelib.stores.accounts.accounts.READ_PAUSES", ())
    monkeypatch.setattr(
        world.container.stores.clients.dynamodb,
        "batch_get_item",
        lambda RequestItems: {"Responses": {}, "UnprocessedKeys": RequestItems},  # noqa: N803
    )

    assert call.json("POST", URL, modelId=MODEL_ID, document="a").status == 503
