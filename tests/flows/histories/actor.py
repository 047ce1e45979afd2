"""An account of a history: makes calls and holds the state that the specification expects."""

from __future__ import annotations

import http.client
import json
import random
import select
import time
import urllib.parse
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.flows.client import LANGUAGE, Answer, Client, Files, encode_multipart
from tests.flows.histories.specification import Archive, Dataset, TrainedModel
from tests.flows.world import World

SHOWN_OPERATIONS = 20
SETTLE_SECONDS = 600.0
"""Longest wait for work in the background."""
UNSEEN_SECONDS = 10.0
"""After so long, a call whose reply was lost and that shows no effect was not received."""
MOST_REFUSALS = 16
"""How often an account of a history may be refused by a busy machine; a whole burst may be."""
Path = str


class Divergence(AssertionError):
    """The service's answer differs from the specification."""


def expect(what: str, expected: object, got: object) -> None:
    """Compare the expected value with the actual one.

    Raises:
        Divergence: they differ.
    """
    if expected != got:
        raise Divergence(f"{what}\n  expected: {expected!r}\n  got:      {got!r}")


@dataclass(frozen=True)
class Request:
    """A call that can be made, repeated, or made without reading its answer."""

    method: str
    path: Path
    body: bytes | None = None
    kind: str = ""
    """Content type."""

    @property
    def headers(self) -> dict[str, str]:
        """Headers sent in addition to the token."""
        return {"Content-Type": self.kind} if self.kind else {}


def get(path: Path, **query: object) -> Request:
    """Describe a GET."""
    return Request("GET", f"{path}?{urllib.parse.urlencode(query)}" if query else path)


def delete(path: Path) -> Request:
    """Describe a DELETE."""
    return Request("DELETE", path)


def as_json(path: Path, payload: object) -> Request:
    """Describe a call with a JSON body."""
    return Request("POST", path, json.dumps(payload).encode(), "application/json")


def as_form(method: str, path: Path, fields: Mapping[str, object], files: Files) -> Request:
    """Describe a call with a form and files."""
    kind, body = encode_multipart(fields.items(), files)
    return Request(method, path, body, kind)


@dataclass
class Refresh:
    """A refresh token and the access tokens issued for it."""

    token: str
    access: list[str] = field(default_factory=list)
    is_alive: bool = True


@dataclass
class Actor:
    """One account of a history."""

    name: str
    world: World
    client: Client
    random: random.Random
    journal: deque[list[str]]
    """The last operations, each with its calls."""
    plan: str
    allowance: int
    """Predictions of a month."""
    example_allowance: int
    used: int = 0
    """Predictions that were counted."""
    example_calls: int = 0
    """Calls that returned examples."""
    exports: int = 0
    """Exports that were asked for."""
    model_exports: int = 0
    """Exports of models that were asked for."""
    archives: list[Archive] = field(default_factory=list)
    """Exported models."""
    datasets: list[Dataset] = field(default_factory=list)
    models: list[TrainedModel] = field(default_factory=list)
    refreshes: list[Refresh] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    """Access tokens that live."""
    calls: int = 0
    """Calls that were made, polls not counted."""
    refusals: int = 0
    """Calls that a busy machine refused."""
    _made: int = 0

    def new_name(self) -> str:
        """Return a name that is not yet used in the account."""
        self._made += 1
        return f"{self.name} {self._made}"

    def send(self, request: Request) -> Answer:
        """Make a call with one of the valid tokens; repeat it where the machine was busy."""
        self.client.token = self.random.choice(self.tokens)
        answer = self.client.send(request.method, request.path, request.body, request.headers)
        self.note(request, outcome(answer))
        return self.send(request) if self.is_refused(answer) else answer

    def is_refused(self, answer: Answer) -> bool:
        """Return whether a call must be repeated, after waiting as asked.

        A 503 is not in the specification: a crowded machine sends it, rarely, and nothing
        came of the call, as whatever is compared later shows.
        """
        if answer.status != 503:
            return False
        self.refusals += 1
        expect("few calls are refused", True, self.refusals <= MOST_REFUSALS)
        time.sleep(float(answer.headers["retry-after"]))
        return True

    def call(self, request: Request, statuses: Iterable[int]) -> Answer:
        """Make a call that must return one of some statuses.

        Raises:
            Divergence: it has another.
        """
        answer = self.send(request)
        if answer.status not in set(statuses):
            expected, got = sorted(set(statuses)), f"{answer.status} {answer.body[:600]!r}"
            raise Divergence(
                f"status of {request.method} {request.path}\n"
                f"  expected: {expected}\n  got:      {got}"
            )
        if answer.status >= 400:
            expect("members of a refusal", True, {"message", "code"} <= set(answer.data))
        return answer

    def lose(self, request: Request, *, is_done: bool = False) -> tuple[int, int]:
        """Make a call and disconnect, at once or when the answer begins, without reading it.

        Args:
            request: the call.
            is_done: hang up when the answer begins: what is done late would undo what follows.

        Returns:
            The ports of the connection: the service's and this side's.
        """
        waits = self.random.random() < 0.5 or is_done
        host = urllib.parse.urlsplit(self.client.url).netloc
        connection = http.client.HTTPConnection(host, timeout=60)
        token = {"Authorization": f"Bearer {self.random.choice(self.tokens)}"}
        connection.request(request.method, request.path, request.body, token | request.headers)
        ports = connection.sock.getpeername()[1], connection.sock.getsockname()[1]
        if waits:
            select.select([connection.sock], [], [], 60)
        connection.close()
        self.note(request, "lost when answered" if waits else "lost at once")
        return ports

    def break_off(self, request: Request) -> None:
        """Send a call without the end of its body and disconnect; the call must have no effect."""
        body = request.body or b""
        host = urllib.parse.urlsplit(self.client.url).netloc
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.putrequest(request.method, request.path)
        headers = {"Authorization": f"Bearer {self.tokens[0]}", "Content-Length": str(len(body))}
        for name, value in (headers | request.headers).items():
            connection.putheader(name, value)
        connection.endheaders(body[: self.random.randrange(len(body))])
        connection.close()
        self.note(request, "broken off")

    def note(self, request: Request, outcome: str) -> None:
        """Record a call for the report."""
        self.calls += 1
        body = (request.body or b"")[:240].decode("utf-8", "replace")
        shown = body if request.kind == "application/json" else f"{len(request.body or b'')} bytes"
        line = f"{self.name}: {request.method} {request.path} {shown if request.body else ''}"
        self.journal[-1].append(f"{line} -> {outcome}")

    def poll(self, path: Path, is_over: Callable[[Answer], bool], seconds: float) -> Answer | None:
        """Poll until a condition holds; return None on timeout."""
        deadline, pause = time.monotonic() + seconds, 0.02
        while True:
            answer = self.client.get(path)
            # A crowded machine refuses polls, too.
            if answer.status != 503 and is_over(answer):
                self.journal[-1].append(f"{self.name}: polled {path} -> {answer.status}")
                return answer
            if time.monotonic() > deadline:
                self.journal[-1].append(f"{self.name}: polled {path} in vain")
                return None
            time.sleep(pause)
            pause = min(0.2, pause * 1.5)

    def settled(self, path: Path, is_over: Callable[[Any], bool]) -> Any:
        """Wait for a record to reach a final state.

        Raises:
            Divergence: it does not.
        """
        answer = self.poll(path, lambda one: is_over(one.ok), SETTLE_SECONDS)
        if answer is None:
            raise Divergence(f"{path} did not end within {SETTLE_SECONDS:g} s")
        return answer.ok


def outcome(answer: Answer) -> str:
    """Return the status, and for an error the body."""
    return f"{answer.status} {answer.body[:200]!r}" if answer.status >= 400 else str(answer.status)


def dataset_path(dataset: Dataset, rest: str = "") -> Path:
    """Return the path of a dataset."""
    return f"{LANGUAGE}/datasets/{dataset.id}{rest}"


def model_path(model: TrainedModel, rest: str = "") -> Path:
    """Return the path of a model's metrics."""
    return f"{LANGUAGE}/models/{model.id}{rest}"


def training_path(model: TrainedModel) -> Path:
    """Return the path of a model's latest training."""
    return f"{LANGUAGE}/train/{model.id}"
