"""Names of the template: of its resources, and of what they make in an account.

One account and region may hold several stacks, so every name begins with the parameter `Name`.
"""

from __future__ import annotations

from typing import Any

from chalicelib.config import Settings

Part = dict[str, Any]
"""A piece of the template."""

SETTINGS = Settings(name="${Name}", bucket="${Name}-data-${AWS::AccountId}-${AWS::Region}")
"""Names as CloudFormation fills them in; see `sub`."""
API_STAGE = "api"
"""Stage of the REST API, as .chalice/config.json names it."""
KEEP: Part = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
"""For what holds data: it outlives its stack, unless the stack's creation failed."""


def sub(text: str) -> Part:
    """Let CloudFormation fill in a text."""
    return {"Fn::Sub": text}


def ref(name: str) -> Part:
    """Refer to a parameter or resource."""
    return {"Ref": name}


def attribute(name: str, what: str = "Arn") -> Part:
    """Refer to an attribute of a resource."""
    return {"Fn::GetAtt": [name, what]}


def camel(short: str) -> str:
    """Write a short name as resources are called: `train-free` becomes `TrainFree`."""
    return "".join(word.capitalize() for word in short.replace("_", "-").split("-"))


def short_name(full: str) -> str:
    """Take the stack's name off a full name."""
    return full.removeprefix(f"{SETTINGS.name}-")


def table_id(short: str) -> str:
    """Logical name of a table."""
    return f"{camel(short)}Table"


def queue_id(short: str) -> str:
    """Logical name of a queue."""
    return f"{camel(short)}Queue"


def dead_queue_id(short: str) -> str:
    """Logical name of a queue's dead-letter queue."""
    return f"{camel(short)}DeadQueue"


BUCKET, SECRET = "DataBucket", "SigningKey"
"""Logical names."""
