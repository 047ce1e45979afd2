"""Each function has exactly the rights that the recorded calls use."""

from __future__ import annotations

from typing import Any

import pytest

import app as module
from infra.costs import USES, Use
from infra.template.functions import ANSWERING, FUNCTIONS, RECORDS
from infra.template.rights import FUNCTION_RIGHTS, SERVICES
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
WORKERS_KINDS = ("embeddings", "features", "runs")
"""Objects of datasets that only trainings and deletions use."""


def _declared(function: str) -> set[tuple[str, str]]:
    """List what a function may do, as the recorder writes it."""
    return {
        (resource, f"{SERVICES[resource.partition('/')[0]]}:{action}")
        for resource, actions in FUNCTION_RIGHTS[function].items()
        for action in actions
    }


SETTLE = {("queue/delete", "sqs:GetQueueUrl"), ("queue/delete", "sqs:SendMessage")}
DELIVER = {("queue/deliver", "sqs:GetQueueUrl"), ("queue/deliver", "sqs:SendMessage")}
RARE = {
    # A counted prediction whose outcome is unknown is settled by a job.
    "texts": SETTLE,
    "pictures": SETTLE,
    # Versions of models whose size an older service did not write.
    "ingest_upload": {("objects/models", "s3:GetObject"), ("table/models", "dynamodb:UpdateItem")},
    # Deliveries that a former version has sent to this queue.
    "delete_object": {
        ("secret", "secretsmanager:GetSecretValue"),
        ("table/exports", "dynamodb:UpdateItem"),
    },
    # An account at its limit of deliveries, and places that died with their worker.
    "deliver_event": {*DELIVER, ("table/quotas", "dynamodb:GetItem")},
    "api_handler": {
        # Events of a call: a quota that is nearly used, a dataset that is ready.
        *DELIVER,
        *SETTLE,
        # What a refused batch, or a dataset that was deleted meanwhile, leaves.
        ("objects/batches", "s3:DeleteObject"),
        ("objects/datasets/chunks", "s3:DeleteObject"),
        ("objects/datasets/images", "s3:DeleteObject"),
        ("objects/datasets/thumbnails", "s3:DeleteObject"),
        ("table/exports", "dynamodb:DeleteItem"),
        # Chunks and indexes have objects only in large datasets.
        ("objects/datasets/chunks", "s3:GetObject"),
        ("objects/datasets/chunks", "s3:PutObject"),
        ("objects/datasets/digests", "s3:GetObject"),
        ("objects/datasets/digests", "s3:PutObject"),
        ("objects/datasets/names", "s3:PutObject"),
        # Models are read together with their account only where a call names one first.
        ("table/models", "dynamodb:BatchGetItem"),
        # A failed import whose row may have been written.
        ("table/models", "dynamodb:DeleteItem"),
    },
    "records": {
        ("objects/datasets/chunks", "s3:DeleteObject"),
        ("objects/datasets/chunks", "s3:GetObject"),
        ("objects/datasets/chunks", "s3:PutObject"),
        ("objects/datasets/digests", "s3:GetObject"),
        ("objects/datasets/digests", "s3:PutObject"),
        # Labels of a dataset that was deleted while they were added.
        ("table/examples", "dynamodb:BatchWriteItem"),
        ("table/receipts", "dynamodb:BatchWriteItem"),
    },
}
"""Rights for what the recorded life is too small for, or what only races and failures need."""


def _as_declared(rights: set[tuple[str, str]], declared: set[tuple[str, str]]) -> set[Any]:
    """Name the objects of datasets together where the function may use all of them."""
    whole = "objects/datasets"
    if not any(resource == whole for resource, _ in declared):
        return rights
    return {(whole if name.startswith(f"{whole}/") else name, act) for name, act in rights}


@pytest.mark.parametrize("function", [function.name for function in FUNCTIONS])
def test_rights_are_what_the_function_uses(recorded: Deployed, function: str) -> None:
    """No recorded call lacks a right, and no right is unused, except for rare ones."""
    declared = _declared(function)
    used = _as_declared(recorded.recorder.used[function], declared)

    assert sorted(used - declared) == [], "used, but not allowed"
    assert sorted(declared - used - RARE.get(function, set())) == [], "allowed, but never used"
    assert sorted(RARE.get(function, set()) - declared) == []


def test_routes_may_write_only_what_they_need() -> None:
    """No function of routes may touch vectors, features or runs, and records no raw file."""
    for function in ANSWERING:
        resources = {resource for resource, _ in _declared(function)}
        assert "objects/datasets" not in resources
        assert not resources & {f"objects/datasets/{kind}" for kind in WORKERS_KINDS}
    written = {
        resource
        for resource, action in _declared(RECORDS)
        if resource.startswith("objects/datasets/") and action == "s3:PutObject"
    }
    assert written == {"objects/datasets/chunks", "objects/datasets/digests"}


def test_every_operation_was_called(recorded: Deployed) -> None:
    """The recorded calls include every operation of the API."""
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
    """Every planned deletion and interruption has happened."""
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
