"""Calls with an Idempotency-Key over HTTP."""

from __future__ import annotations

from tests.flows.client import LANGUAGE, Client


def repeated(client: Client, key: str) -> int:
    """Create a dataset twice with one key; return the id that both answers have."""
    sent = {"Idempotency-Key": key, "Content-Type": "application/json"}
    body = b'{"name": "once", "type": "text-intent", "labels": "a,b"}'
    before = len(client.items(f"{LANGUAGE}/datasets"))
    first, second = (client.send("POST", f"{LANGUAGE}/datasets", body, sent) for _ in range(2))
    other = client.send("POST", f"{LANGUAGE}/datasets", body.replace(b"once", b"twice"), sent)

    assert first.ok == second.ok
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert other.status == 422
    assert len(client.items(f"{LANGUAGE}/datasets")) == before + 1
    return int(first.ok["id"])


def test_a_repeated_call_makes_one_dataset(client: Client) -> None:
    """The second answer equals the first; another body with the same key is refused."""
    assert repeated(client, "flow-1")
