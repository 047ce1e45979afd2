"""The tests call every method of both clients and thereby every operation of the service.

The synchronous one gets the answers that the asynchronous one got; it is generated from it, and
tests/flows/presage_client/test_client.py uses it with the whole service.
"""

from __future__ import annotations

import asyncio
import re
import runpy
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from presage import AsyncPresage, Presage

from tests.flows.presage_client import every_call

ROOT = Path(__file__).parents[3]
UNCALLED = {
    "get_root",
    "get_document",
    "get_docs",
    "get_docs_file",
    "get_console",
    "get_console_file",  # pages for people
    "predict_entities",  # a refusal
    "list_label_examples_deprecated",  # `list_label` makes the call that replaced it
    "upload_dataset_sync",
    "upload_pictures_sync",  # `upload` waits in the background, without a limit of time
    "revoke_token",  # the client asks for no refresh token: it has the key
}
"""Operations that the client has no method for."""


def called(operations: list[tuple[str, str, str]], calls: set[tuple[str, str]]) -> set[str]:
    """Return the names of the called operations."""
    return {
        name
        for name, wanted, template in operations
        for method, path in calls
        if method == wanted and re.fullmatch(pattern(template), path)
    }


def pattern(path: str) -> str:
    """Return a pattern of a path in which a variable matches an id only."""
    return re.sub(r"\\{\w+\\}", r"(?!upload|validate)[\\w-]+", re.escape(path))


@dataclass
class Tape:
    """Recorded answers of a service, by method and path, in order."""

    answers: dict[tuple[str, str], deque[tuple[int, httpx.Headers, bytes]]] = field(
        default_factory=lambda: defaultdict(deque)
    )

    def recorder(self) -> Callable[..., Any]:
        """Return a method of asynchronous transports that keeps what the real one answers."""
        send = httpx.AsyncHTTPTransport.handle_async_request

        async def record(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> Any:
            answer = await send(transport, request)
            content = b"".join([piece async for piece in answer.stream])
            await answer.aclose()
            kept = answer.status_code, answer.headers, content
            self.answers[request.method, request.url.path].append(kept)
            return _answer(*kept)

        return record

    def replay(self, request: httpx.Request) -> httpx.Response:
        """Return the next recorded answer to a request."""
        assert isinstance(request.stream, Iterable)
        for _piece in request.stream:
            pass
        return _answer(*self.answers[request.method, request.url.path].popleft())


def _answer(status: int, headers: httpx.Headers, content: bytes) -> httpx.Response:
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(content))


@pytest.fixture(scope="module")
def asynchronous(world, account, tmp_path_factory) -> tuple[dict[str, Any], Tape, Path]:
    """The result of the asynchronous script, its recorded answers, and its output folder."""
    tape, folder = Tape(), tmp_path_factory.mktemp("asynchronous")

    async def story() -> dict[str, Any]:
        async with AsyncPresage(world.stack.url, *account) as client:
            return await every_call.tell_all(client, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", tape.recorder())
        return asyncio.run(story()), tape, folder


@pytest.mark.timeout(900)
def test_asynchronous_client_reaches_every_operation(operations, asynchronous):
    """Each operation of the service is called by a client method, or has a reason not to be."""
    seen, tape, folder = asynchronous
    assert (seen["health"], seen["used"], seen["account"]) == ("ok", "apiusage", "account")
    assert seen["bytes"] == (folder / "weather.csv").stat().st_size
    calls = set(tape.answers)
    assert {name for name, _, _ in operations} - called(operations, calls) == UNCALLED


@pytest.mark.timeout(900)
def test_synchronous_client_does_the_same(world, account, asynchronous, tmp_path, monkeypatch):
    """The synchronous script makes the same calls and reads the recorded answers."""
    _, tape, _ = asynchronous
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", tape.replay)
    writer = runpy.run_path(str(ROOT / "client" / "tools" / "write_sync.py"))
    file = tmp_path / "every_call.py"
    file.write_text(writer["synchronous"](Path(every_call.__file__).read_text("utf-8")), "utf-8")
    story = runpy.run_path(str(file))
    with Presage(world.stack.url, *account) as client:
        assert story["tell_all"](client, tmp_path)["health"] == "ok"
    assert not any(tape.answers.values())
