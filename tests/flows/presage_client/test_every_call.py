"""Every method of both clients, against the whole service; together they reach every operation."""

from __future__ import annotations

import asyncio
import re
import runpy
from pathlib import Path

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
    """Return the names of the operations among calls."""
    return {
        name
        for name, wanted, template in operations
        for method, path in calls
        if method == wanted and re.fullmatch(pattern(template), path)
    }


def pattern(path: str) -> str:
    """Make a pattern of a path; a variable is an id, not a word of another path."""
    return re.sub(r"\\{\w+\\}", r"(?!upload|validate)[\\w-]+", re.escape(path))


def watching(calls: set[tuple[str, str]]) -> dict[str, object]:
    """Return settings of httpx that note each call."""

    async def note(request: object) -> None:
        calls.add((request.method, request.url.path))

    return {"event_hooks": {"request": [note]}}


@pytest.mark.timeout(300)
def test_asynchronous_client_reaches_every_operation(world, operations, account, tmp_path):
    """Each operation of the service has a method that was called, or a reason not to have one."""
    calls: set[tuple[str, str]] = set()

    async def story() -> dict[str, object]:
        async with AsyncPresage(world.stack.url, *account, http=watching(calls)) as client:
            return await every_call.tell_all(client, tmp_path)

    seen = asyncio.run(story())
    assert (seen["health"], seen["used"], seen["account"]) == ("ok", "apiusage", "account")
    assert seen["bytes"] == (tmp_path / "weather.csv").stat().st_size
    assert {name for name, _, _ in operations} - called(operations, calls) == UNCALLED


@pytest.mark.timeout(300)
def test_synchronous_client_does_the_same(world, account, tmp_path):
    """The same story, without its asynchronous words, runs with the other client."""
    writer = runpy.run_path(str(ROOT / "client" / "tools" / "write_sync.py"))
    file = tmp_path / "every_call.py"
    file.write_text(writer["synchronous"](Path(every_call.__file__).read_text("utf-8")), "utf-8")
    story = runpy.run_path(str(file))
    with Presage(world.stack.url, *account) as client:
        assert story["tell_all"](client, tmp_path)["health"] == "ok"
