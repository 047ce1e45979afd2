"""What the OpenAPI document shows as example is what the service answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.routes import OPERATIONS
from chalicelib.web.openapi.examples import EXAMPLES, key
from infra.accounts import GRANT_TYPE
from tests.flows.client import Client
from tests.flows.documented.story import ENVIRONMENT, STORY, UNSHOWN, Teller, differences
from tests.flows.world import World, assertion
from tests.local_stack import LocalStack


def beginning(world: World) -> tuple[Client, dict[str, Any]]:
    """Make the caller of the story, and what its first call needs."""
    client = world.caller("GOLD", example_calls=1000)
    signed = assertion(client.email, world.private_pem)
    return client, {"grant": GRANT_TYPE, "assertion": signed}


@pytest.fixture(scope="module")
def told(tmp_path_factory, closed_network) -> Iterator[dict[str, Any]]:
    """The story, told to a stack with the models that ship."""
    arguments = ("--no-demo", "--forget")
    with LocalStack(arguments=arguments, environment=ENVIRONMENT, ready_seconds=240) as stack:
        world = World(stack, tmp_path_factory.mktemp("documented"))
        yield Teller(*beginning(world)).tell()
        world.close()


def test_every_operation_has_an_example():
    """No call of the interface is without a request and an answer to look at."""
    wanted = {
        key(operation.name, family)
        for operation in OPERATIONS
        if operation.name not in UNSHOWN
        for family in operation.families or ("",)
    }
    assert wanted - {key(step.operation, step.family) for step in STORY} == set()
    assert set(json.loads(EXAMPLES.read_text("utf-8"))) == wanted


@pytest.mark.timeout(600)
def test_examples_are_what_the_service_answers(told):
    """Each example was sent, and the answer is like it; python -m tests.flows.documented writes."""
    shown = json.loads(EXAMPLES.read_text("utf-8"))
    found = [
        f"{name}{place}"
        for name, example in told.items()
        for place in differences(example["answer"], shown[name]["answer"])
    ]
    assert not found
