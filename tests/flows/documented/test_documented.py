"""What the OpenAPI document shows as example is what the service answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import jwt
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
def demo_stack(closed_network) -> Iterator[LocalStack]:
    """A stack with the models that ship, and the demo account."""
    arguments = ("--no-demo", "--forget")
    with LocalStack(arguments=arguments, environment=ENVIRONMENT, ready_seconds=240) as stack:
        yield stack


@pytest.fixture(scope="module")
def told(tmp_path_factory, demo_stack) -> Iterator[dict[str, Any]]:
    """The story, told to that stack."""
    world = World(demo_stack, tmp_path_factory.mktemp("documented"))
    yield Teller(*beginning(world)).tell()
    world.close()


def test_link_to_the_console_signs_in(demo_stack):
    """The start prints a link whose token, behind #, is good for ten minutes."""
    found = re.search(r"^  console +(\S+)#token=(\S+)$", demo_stack.log(), re.MULTILINE)
    assert found is not None
    with urlopen(found[1], timeout=20) as page:  # noqa: S310 - our own stack
        assert page.headers["Content-Type"].startswith("text/html")
    claims = jwt.decode(found[2], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] in range(590, 601)
    asked = Request(  # noqa: S310 - our own stack
        f"{demo_stack.url}/v2/apiusage", headers={"Authorization": f"Bearer {found[2]}"}
    )
    with urlopen(asked, timeout=20) as answer:  # noqa: S310 - our own stack
        assert answer.status == 200


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
