"""Hanging servers behind callers' URLs occupy only a part of the service."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

from tests.flows.client import Answer, Client
from tests.flows.world import World
from tests.local.wire import wait_until

CALLS = 30


def test_health_is_answered_while_thirty_downloads_hang(world: World, client: Client) -> None:
    """Of 30 calls 12 wait for the hanging server, 18 are refused, and health still answers."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(CALLS) as threads:
        ask = {
            "modelId": "GeneralImageClassifier",
            "sampleLocation": f"http://127.0.0.1:{server.getsockname()[1]}/a.png",
        }

        def predict(caller: Client) -> Answer:
            with caller.clone() as own:
                return own.json("POST", "/v2/vision/predict", ask)

        callers = [world.caller() for _ in range(5)]
        calls = [threads.submit(predict, callers[number % 5]) for number in range(CALLS)]
        # A server that accepts no connection and sends nothing: the calls wait for its answer.
        wait_until(lambda: sum(call.done() for call in calls) >= CALLS - 12)
        assert client.send("GET", "/v2/health").status == 200

        hanging = [call for call in calls if not call.done()]
        server.close()
        statuses = sorted(call.result().status for call in calls)
    assert len(hanging) == 12
    assert statuses == [400] * 12 + [503] * (CALLS - 12)
