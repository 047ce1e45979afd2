"""The MCP server: the SDK's own client against the whole service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.flows.pictures import fruit_scenes
from tests.flows.test_ocr import FORM, TEMPLATE
from tests.local_stack import ROOT

READS = {
    "list_models", "classify_text", "classify_image", "detect_objects", "read_document",
    "extract_fields", "label_next", "usage",
}  # fmt: skip
COMMAND = (sys.executable, "-m", "presage", "mcp")


@pytest.fixture
def variables(world, tmp_path):
    """Environment variables of a server for an account."""
    key = tmp_path / "key.pem"
    key.write_text(world.private_pem)
    return lambda caller: {
        **{name: text for name, text in os.environ.items() if not name.startswith("PRESAGE_")},
        "PYTHONPATH": str(ROOT / "client" / "src"),
        "PRESAGE_URL": world.stack.url,
        "PRESAGE_EMAIL": str(caller.email),
        "PRESAGE_KEY_FILE": str(key),
    }


@asynccontextmanager
async def stdio(environment: dict[str, str], *options: object) -> AsyncIterator[Client]:
    """Start a server on stdio and connect to it."""
    arguments = [*COMMAND[1:], *map(str, options)]
    server = StdioServerParameters(command=COMMAND[0], args=arguments, env=environment)
    async with Client(server, read_timeout_seconds=60) as client:
        yield client


@contextmanager
def http(environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Start a server over HTTP; returns its address and the Authorization header."""
    command = [*COMMAND, "--http", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url, line = (process.stderr.readline().strip() for _ in range(2))
            yield url, line.removeprefix("Authorization: ")
        finally:
            process.terminate()


async def ask(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool and return its structured answer."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    assert found.structured_content is not None
    return dict(found.structured_content)


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    """Call a tool that must fail, and return its error text."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    return str(found.content[0].text)


def test_texts(variables, owner, weather_model):
    """An agent lists models, classifies, ranks texts, and reads card and usage."""

    async def story() -> None:
        async with stdio(variables(owner)) as client:
            models = (await ask(client, "list_models"))["models"]
            assert [model["model_id"] for model in models].count(weather_model) == 1
            label = await ask(
                client, "classify_text", text="will it rain today", model_id=weather_model
            )
            assert label["probabilities"][0]["probability"] > 0.5
            chosen = await ask(
                client,
                "label_next",
                model_id=weather_model,
                texts=["is it hot", "snow", "wind", "sun"],
                count=2,
            )
            assert [text["rank"] for text in chosen["texts"]] == [1, 2]
            card = await client.read_resource(f"presage://models/{weather_model}/card")
            assert json.loads(card.contents[0].text)["modelId"] == weather_model
            with pytest.raises(MCPError, match="Unable to find model none"):
                await client.read_resource("presage://models/none/card")
            assert (await ask(client, "usage"))["used"] > 0
            assert "model" in await refusal(client, "classify_text", text="x", model_id="none")

    asyncio.run(story())


def test_key_of_scope_predict_suffices(variables, client, owner, weather_model):
    """A key that may only predict classifies texts, as the page for agents says."""
    made = owner.json("POST", "/v2/keys", {"name": "agent", "scope": "predict"}).ok
    given = {**variables(client), "PRESAGE_API_KEY": made["secret"]}
    del given["PRESAGE_EMAIL"], given["PRESAGE_KEY_FILE"]

    async def story() -> None:
        async with stdio(given) as agent:
            await ask(agent, "classify_text", text="rain", model_id=weather_model)
            assert "scope" in await refusal(agent, "list_models")

    asyncio.run(story())
    assert owner.delete(f"/v2/keys/{made['id']}").ok


def test_files(variables, gallery, shapes_model, tables_model, tmp_path):
    """Images are classified, objects detected and documents read, only in allowed folders."""
    _, content, _ = fruit_scenes(1)[0]
    (tmp_path / "scene.jpg").write_bytes(content)
    (tmp_path / "form.png").write_bytes(FORM)

    async def story() -> None:
        async with stdio(variables(gallery), "--root", tmp_path) as client:
            labels = await ask(client, "classify_image", file="scene.jpg", model_id=shapes_model)
            assert labels["probabilities"]
            found = await ask(client, "detect_objects", file="scene.jpg", model_id=tables_model)
            assert "objects" in found
            assert "text" in await ask(client, "read_document", file=str(tmp_path / "scene.jpg"))
            fields = await ask(client, "extract_fields", file="form.png", template=TEMPLATE)
            values = {field["name"]: field["value"] for field in fields["fields"]}
            assert values["number"] == "1735"
        async with stdio(variables(gallery)) as client:
            assert "--root" in await refusal(client, "read_document", file="scene.jpg")

    asyncio.run(story())


def test_tools_are_described(variables, owner):
    """Each tool has schemas and a read-only hint; the writing tool must be enabled."""

    async def story() -> None:
        async with stdio(variables(owner)) as client:
            tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READS
        for tool in tools:
            assert tool.description
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.output_schema
        async with stdio(variables(owner), "--allow-writes") as client:
            tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == [
            "submit_feedback"
        ]

    asyncio.run(story())


def test_feedback_is_added_where_it_is_allowed(variables, client, world):
    """If enabled, the writing tool adds an example with its correct label."""
    dataset = client.dataset(b"".join(b"rain %d,wet\nsun %d,dry\n" % (i, i) for i in range(6)))
    model = client.model(int(dataset["id"]), "feedback")

    async def story() -> None:
        async with stdio(variables(client), "--allow-writes") as agent:
            added = await ask(agent, "submit_feedback", text="drizzle", label="wet", model_id=model)
        assert added["label"] == "wet"

    asyncio.run(story())


def test_http_needs_the_token_and_the_own_origin(variables, owner, weather_model):
    """HTTP calls need the token, and calls from pages of other origins are refused."""

    async def story(url: str, authorization: str) -> None:
        headers = {"Authorization": authorization}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as session:
            transport = streamable_http_client(url, http_client=session)
            async with Client(transport, read_timeout_seconds=60) as client:
                await ask(client, "classify_text", text="rain", model_id=weather_model)
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accepts = {"Accept": "application/json, text/event-stream"}
            for more, status in (
                ({"Origin": "https://page.example"}, 403),
                ({"Host": "page.example"}, 421),
                ({"Authorization": "Bearer no"}, 401),
                ({"Authorization": ""}, 401),
            ):
                answer = await session.post(url, json=call, headers={**accepts, **more})
                assert answer.status_code == status, (more, answer.text)

    with http(variables(owner)) as (url, authorization):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", url)
        asyncio.run(story(url, authorization))


def test_cancelled_call_leaves_the_server_running(variables, owner, weather_model):
    """A call that the agent cancels ends, and the next call is answered."""

    async def story() -> None:
        async with stdio(variables(owner)) as client:
            task = asyncio.create_task(client.call_tool("list_models", {}))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await ask(client, "classify_text", text="rain", model_id=weather_model)

    asyncio.run(story())
