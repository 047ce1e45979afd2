"""Many simultaneous callers, for tests and benchmarks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.flows.client import LANGUAGE, Client

Call = Callable[[dict[int, Client], int], str | None]
"""One call of a thread: its clients by number, the call's number; returns what was wrong."""
CALLERS = 64


@dataclass(frozen=True)
class Asked:
    """A caller with a dataset and a model."""

    client: Client
    """The caller."""
    model_id: str
    """Its model."""
    labels: frozenset[str]
    """Labels that no other model has."""
    dataset_name: str
    """Name of its only dataset."""


def run_crowd(threads: int, calls: int, call: Call) -> list[str]:
    """Make calls from threads and return every error."""
    wrong: list[str] = []

    def work(worker: int) -> None:
        """Make this thread's calls."""
        clients: dict[int, Client] = {}
        try:
            for number in range(worker, calls, threads):
                trouble = call(clients, number)
                if trouble is not None:
                    wrong.append(trouble)
        except Exception as error:  # noqa: BLE001 - a thread that dies must fail the test
            wrong.append(f"{type(error).__name__}: {error}")
        for client in clients.values():
            client.close()

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(threads)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    return wrong


def spend(caller: Client, model_id: str, calls: int) -> dict[int, int]:
    """Let 64 callers of one account predict at once; return the count of answers by status."""
    found: Counter[int] = Counter()
    lock = threading.Lock()

    def predict(clients: dict[int, Client], number: int) -> None:
        """Make one prediction."""
        client = clients.setdefault(0, caller.clone())
        answer = client.predict(model_id, f"good {number}", "sentiment")
        with lock:
            found[answer.status] += 1

    wrong = run_crowd(CALLERS, calls, predict)
    if wrong:
        raise RuntimeError(wrong[0])
    return dict(found)


def mixed_calls(crowd: Sequence[Asked]) -> Call:
    """Return a call whose account, kind and id depend on its number; it checks its answer."""

    def call(clients: dict[int, Client], number: int) -> str | None:
        """Make a call as one of the accounts and check that its answer has nothing of another."""
        place = number % len(crowd)
        asked = crowd[place]
        if place not in clients:
            clients[place] = asked.client.clone()
        kind = number % 7
        if kind == 0:
            return _check_list(clients[place], asked)
        if kind == 1:
            return _check_model(clients[place], asked)
        return _check_prediction(clients[place], asked, number)

    return call


def _check_prediction(client: Client, asked: Asked, number: int) -> str | None:
    """Predict with a unique sample id, alternating between JSON and form."""
    fields = {"modelId": asked.model_id, "document": f"left {number}", "sampleId": f"s{number}"}
    if number % 2:
        answer = client.json("POST", f"{LANGUAGE}/intent", fields)
    else:
        answer = client.multipart("POST", f"{LANGUAGE}/intent", fields)
    if answer.status != 200:
        return f"{number}: {answer.status} {answer.body[:300]!r}"
    labels = {item["label"] for item in answer.data["probabilities"]}
    is_own = answer.data["sampleId"] == f"s{number}" and labels == asked.labels
    return None if is_own else f"{number}: {answer.body[:300]!r}"


def _check_list(client: Client, asked: Asked) -> str | None:
    """List the datasets."""
    names = [item["name"] for item in client.get(f"{LANGUAGE}/datasets").ok["data"]]
    return None if names == [asked.dataset_name] else f"datasets {names} of {asked}"


def _check_model(client: Client, asked: Asked) -> str | None:
    """Read the model."""
    model_id = client.get(f"{LANGUAGE}/train/{asked.model_id}").ok["modelId"]
    return None if model_id == asked.model_id else f"model {model_id} of {asked}"
