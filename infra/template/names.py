"""Names of the templates: of their resources, and of what they make in an account.

One account and region may hold several stages, so every name begins with the parameter `Name`. The
service's stack finds by its name what the data's stack has made; only the key's ARN is handed over.
"""

from __future__ import annotations

from typing import Any

from chalicelib.config import Settings
from chalicelib.stores.jobs.queues import INCOMING

# A piece of the template.
Part = dict[str, Any]

# Names as CloudFormation fills them in; see `sub`.
SETTINGS = Settings(name="${Name}", bucket="${Name}-data-${AWS::AccountId}-${AWS::Region}")
# Stage of the REST API, as .chalice/config.json names it.
API_STAGE = "api"
# For what holds data: it outlives its stack, unless the stack's creation failed.
KEEP: Part = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
_HERE = "${AWS::Region}:${AWS::AccountId}"


def sub(text: str) -> Part:
    """Return a text that CloudFormation fills in."""
    return {"Fn::Sub": text}


def ref(name: str) -> Part:
    """Refer to a parameter or resource."""
    return {"Ref": name}


def attribute(name: str, what: str = "Arn") -> Part:
    """Refer to an attribute of a resource."""
    return {"Fn::GetAtt": [name, what]}


def table_arn(short: str, index: str = "") -> Part:
    """ARN of a table, or of one of its indexes, which are in the data's stack."""
    path = f"{SETTINGS.name}-{short}" + (f"/index/{index}" if index else "")
    return sub(f"arn:${{AWS::Partition}}:dynamodb:{_HERE}:table/{path}")


def bucket_arn(path: str = "") -> Part:
    """ARN of the bucket, which is in the data's stack, or of objects in it."""
    return sub(f"arn:${{AWS::Partition}}:s3:::{SETTINGS.bucket}{path}")


def queue_arn(short: str) -> Part:
    """ARN of a queue, as the service's stack refers to it."""
    if short == INCOMING:
        return sub(f"arn:${{AWS::Partition}}:sqs:{_HERE}:{SETTINGS.name}-{short}")
    # Waits until the queue is made.
    return sub(f"${{{queue_id(short)}.Arn}}")


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


# Logical names.
BUCKET, SECRET = "DataBucket", "SigningKey"
# Output of the data's stack, parameter and output of the service's.
SECRET_ARN = "SigningKeyArn"  # noqa: S105 - a name
