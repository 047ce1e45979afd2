"""Webhooks over HTTP: created, sent by workers, verified by their receiver."""

from __future__ import annotations

import time
from typing import Any

from presage import webhooks

from tests.flows.client import Client
from tests.receiver import Receiver

HOOKS = "/v2/webhooks"
TEXTS = b"where is my parcel,delivery\ni want my money back,refund\n"


def wait_for_event(
    client: Client, receiver: Receiver, event: str, seconds: float = 240
) -> dict[str, Any]:
    """Create a webhook, wait for its event, verify it, and return its data.

    The upload that makes the event happens between the two.
    """
    hook = client.json("POST", HOOKS, {"url": receiver.url, "events": [event]}).ok
    place = f"{HOOKS}/{hook['id']}"
    dataset = client.dataset(TEXTS)
    deadline = time.monotonic() + seconds
    while not receiver.received:
        assert time.monotonic() < deadline, client.get(f"{place}/deliveries").ok
        time.sleep(0.05)
    client.wait(f"{place}/deliveries", lambda d: d["data"][0]["status"] == "DELIVERED", seconds)
    [delivery] = client.get(f"{place}/deliveries").ok["data"]
    [got] = receiver.received
    said = webhooks.verify(got.body, got.headers, hook["secret"])

    assert (said["type"], said["data"]["id"]) == (event, dataset["id"])
    assert (delivery["id"], delivery["attempts"]) == (got.headers["webhook-id"], 1)
    assert client.delete(place).status == 204
    assert client.get(place).status == 404
    return dict(said["data"])


def refused_addresses(client: Client) -> None:
    """Request webhooks with URLs that only this machine or its network can reach."""
    for url in ("https://10.0.0.1/hook", "https://169.254.169.254/latest", "https://[::1]/hook"):
        answer = client.json("POST", HOOKS, {"url": url, "events": ["dataset.ready"]})
        assert (answer.status, answer.data["code"]) == (400, "invalid_parameter"), url
    assert client.get(HOOKS).ok["data"] == []


def test_a_receiver_gets_the_event_of_an_upload(client: Client, receiver: Receiver) -> None:
    """The worker sends the event of an upload once, with a signature that the client verifies."""
    assert wait_for_event(client, receiver, "dataset.ready")["family"] == "language"


def test_private_addresses_are_refused(client: Client) -> None:
    """The service refuses webhook URLs in its own network."""
    refused_addresses(client)
