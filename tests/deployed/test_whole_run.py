"""Checks after all other tests of this folder: logs, queues, model files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.errors import StorageUnavailable
from infra.downloads.fetch import file_sha256
from infra.models import default_directory
from infra.template.functions import FUNCTIONS, Function
from tests.deployed.client import SECONDS, StageClient, refused
from tests.deployed.stage import Deployment
from tests.deployed.test_ocr import LINES
from tests.deployed.test_texts import QUESTION


def lines(stage: Deployment, function: Function) -> Iterator[str]:
    """Read what a function has logged."""
    pages = stage.client("logs").get_paginator("filter_log_events")
    for page in pages.paginate(logGroupName=f"/presage/{stage.name}/{function.short}"):
        for event in page["events"]:
            yield from event["message"].splitlines()


def events(stage: Deployment, function: Function) -> list[dict[str, Any]]:
    """Return the events among the lines of a function."""
    return [json.loads(line) for line in lines(stage, function) if line.startswith("{")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.short)
def test_every_function_ran(stage: Deployment, function: Function):
    """Each was brought its events by the gateway, its queue or its schedule."""
    deadline = time.monotonic() + SECONDS
    while not any(line.startswith("REPORT") for line in lines(stage, function)):
        assert time.monotonic() < deadline, function.short
        time.sleep(1)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.short)
def test_nothing_went_wrong(stage: Deployment, function: Function):
    """No function logged an error, nor was it refused a call of AWS by its role."""
    found = events(stage, function)

    assert not [event for event in found if event.get("level") in ("ERROR", "CRITICAL")]
    assert not [line for line in lines(stage, function) if "AccessDenied" in line]


def test_logs_hold_no_secrets(stage: Deployment, client: StageClient):
    """No log contains tokens, texts or what was read in a document."""
    said = "\n".join(line for function in FUNCTIONS for line in lines(stage, function))

    assert said
    assert client.token is not None
    for secret in (client.token, QUESTION, *LINES):
        assert secret not in said


def test_no_message_is_left(stage: Deployment):
    """No message is in a dead-letter queue."""
    sqs = stage.client("sqs")
    urls = sqs.list_queues(QueueNamePrefix=stage.name)["QueueUrls"]
    wanted = ["ApproximateNumberOfMessages"]
    dead = [url for url in urls if url.endswith("-dead")]
    counts = {
        url: sqs.get_queue_attributes(QueueUrl=url, AttributeNames=wanted)["Attributes"]
        for url in dead
    }

    assert len(dead) * 2 == len(urls)
    assert {int(facts[wanted[0]]) for facts in counts.values()} == {0}


def test_models_were_brought_from_the_bucket(stage: Deployment):
    """What functions have on their disks are the installed files, and came from the bucket."""
    disks, installed = stage.server.folder / "disks", default_directory()
    brought: dict[str, set[str]] = {}
    for path in disks.rglob("*.onnx"):
        function, *rest = path.relative_to(disks).parts
        brought.setdefault(function, set()).add(rest[0])
        assert file_sha256(path) == file_sha256(installed.joinpath(*rest))

    # What each loads as it starts, and what its calls have asked for since.
    assert {"ppocr", "slanet"} <= brought["APIHandler"]
    assert {"bge", "bge-sentiment"} <= brought["Texts"]
    assert {"lite2", "nanodet"} <= brought["Pictures"]
    assert "Records" not in brought


def test_roles_are_enforced(stage: Deployment, client: StageClient):
    """Forbidden actions are refused, so all other tests ran with the template's rights."""
    iam = stage.client("iam")
    [name] = [r["RoleName"] for r in iam.list_roles()["Roles"] if "RecordsRole" in r["RoleName"]]
    refusal = {"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [refusal]})
    iam.put_role_policy(RoleName=name, PolicyName="refusal", PolicyDocument=document)
    try:
        refused(client.get("/v2/apiusage"), StorageUnavailable)
    finally:
        iam.delete_role_policy(RoleName=name, PolicyName="refusal")

    assert client.get("/v2/apiusage").status == 200
