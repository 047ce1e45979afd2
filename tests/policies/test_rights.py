"""The rights of each function are those that a life of the whole service uses, and no others."""

from __future__ import annotations

import pytest

import app as module
from infra.costs import USES, Use
from infra.template.functions import ANSWERING, FUNCTIONS, RECORDS
from infra.template.rights import FUNCTION_RIGHTS, SERVICES, SHARED
from tests.policies.deployed import Deployed

pytestmark = pytest.mark.timeout(300)
"""Asking the functions for everything takes half a minute of a processor."""
KINDS_OF_CALLS = {
    "dynamodb:GetItem": "reads",
    "dynamodb:BatchGetItem": "reads",
    "dynamodb:Query": "reads",
    "dynamodb:PutItem": "writes",
    "dynamodb:UpdateItem": "writes",
    "s3:GetObject": "gets",
    "s3:PutObject": "puts",
    "s3:ListBucket": "puts",
}
"""What AWS charges each action as."""


def _declared(function: str) -> set[tuple[str, str]]:
    """List what a function may do, as the recorder writes it."""
    return {
        (resource, f"{SERVICES[resource.partition('/')[0]]}:{action}")
        for resource, actions in FUNCTION_RIGHTS[function].items()
        for action in actions
    }


@pytest.mark.parametrize("function", [function.name for function in FUNCTIONS])
def test_rights_are_what_the_function_uses(recorded: Deployed, function: str) -> None:
    """No call lacks its right, and no right is without a call."""
    used, declared = recorded.recorder.used[function], _declared(function)
    if function in SHARED:
        assert sorted(used - declared) == [], "used, but not allowed"
        used = set().union(*(recorded.recorder.used[name] for name in ANSWERING))

    assert sorted(used - declared) == [], "used, but not allowed"
    assert sorted(declared - used) == [], "allowed, but never used"


def test_every_operation_was_called(recorded: Deployed) -> None:
    """The life that is recorded holds every operation of the interface: add new ones to it."""
    operations = {
        view.view_name for methods in module.app.routes.values() for view in methods.values()
    }

    assert sorted(operations - recorded.called) == []


@pytest.mark.parametrize("use", USES, ids=lambda use: use.kind)
def test_costs_are_computed_from_what_is_called(recorded: Deployed, use: Use) -> None:
    """The calls of DynamoDB and S3 that infra/costs.py multiplies are those of a warm call."""
    counted = recorded.counted[use.counted_as or use.kind]
    sums = dict.fromkeys(("reads", "writes", "gets", "puts"), 0)
    for action, number in counted.items():
        sums[KINDS_OF_CALLS[action]] += number

    assert sums == {name: getattr(use, name) for name in sums}


def test_records_load_no_engine(recorded: Deployed) -> None:
    """No call that the smallest function answers needs a network, for which it has no room."""
    assert recorded.loaded(RECORDS) == []


def test_everything_that_was_to_interfere_did(recorded: Deployed) -> None:
    """Every deletion and every cut at a chosen moment came about."""
    assert recorded.recorder.pending == []


def test_functions_are_those_of_the_application() -> None:
    """Every handler of app.py is described, with its queue, and no other."""
    queues = {
        source.name: source.queue.removeprefix("presage-")
        for source in module.app.event_sources
        if hasattr(source, "queue")
    }
    handlers = {source.name for source in module.app.event_sources} | set(ANSWERING)

    assert {function.name for function in FUNCTIONS} == handlers
    assert {f.name: f.queue for f in FUNCTIONS if f.queue} == queues
