"""The examples of the OpenAPI document are what the service answers."""

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
from tests.flows.documented.story import STORY, UNSHOWN, Teller, differences
from tests.flows.world import World, assertion


def beginning(world: World) -> tuple[Client, dict[str, Any]]:
    """Create the caller of the sequence and the values that its first call needs."""
    client = world.caller("GOLD", example_calls=1000)
    signed = assertion(client.email, world.private_pem)
    return client, {"grant": GRANT_TYPE, "assertion": signed}


@pytest.fixture(scope="module")
def answers(tmp_path_factory, shipped_stack) -> Iterator[dict[str, Any]]:
    """The examples that result from making the calls."""
    world = World(shipped_stack, tmp_path_factory.mktemp("documented"))
    yield Teller(*beginning(world)).tell()
    world.close()


def test_link_to_the_console_signs_in(shipped_stack):
    """The start prints a link with a token after the #, valid for ten minutes."""
    found = re.search(r"^  console +(\S+)#token=(\S+)$", shipped_stack.log(), re.MULTILINE)
    assert found is not None
    with urlopen(found[1], timeout=60) as page:  # noqa: S310 - our own stack
        assert page.headers["Content-Type"].startswith("text/html")
    claims = jwt.decode(found[2], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] in range(590, 601)
    asked = Request(  # noqa: S310 - our own stack
        f"{shipped_stack.url}/v2/apiusage", headers={"Authorization": f"Bearer {found[2]}"}
    )
    with urlopen(asked, timeout=60) as answer:  # noqa: S310 - our own stack
        assert answer.status == 200


def test_every_operation_has_an_example():
    """Every operation has an example request and an example answer."""
    wanted = {
        key(operation.name, family)
        for operation in OPERATIONS
        if operation.name not in UNSHOWN
        for family, _ in operation.routes()
    }
    assert wanted - {key(step.operation, step.family) for step in STORY} == set()
    assert set(json.loads(EXAMPLES.read_text("utf-8"))) == wanted


@pytest.mark.timeout(600)
def test_examples_are_what_the_service_answers(answers):
    """Each example equals the service's current answer; if not, regenerate the examples."""
    shown = json.loads(EXAMPLES.read_text("utf-8"))
    found = [
        f"{name}{place}"
        for name, example in answers.items()
        for place in differences(example["answer"], shown[name]["answer"])
    ]
    assert not found
