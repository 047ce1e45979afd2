"""Names in the templates: logical names, and names of resources in an account.

One account and region may have several stages, so every name begins with the parameter `Name`. The
service's stack refers to resources of the data's stack by name; only the ARN of the signing key is
passed as a parameter.
"""

from __future__ import annotations

from typing import Any

from chalicelib.config import Settings
from chalicelib.stores.jobs.queues import INCOMING

# A part of the template.
Part = dict[str, Any]

# Names with variables that CloudFormation fills in; see `sub`.
SETTINGS = Settings(name="${Name}", bucket="${Name}-data-${AWS::AccountId}-${AWS::Region}")
# Stage of the REST API, as .chalice/config.json names it.
API_STAGE = "api"
# Policies that keep resources with data when the stack is deleted, unless its creation failed.
KEEP: Part = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
_HERE = "${AWS::Region}:${AWS::AccountId}"


def sub(text: str) -> Part:
    """Return a text in which CloudFormation fills in variables."""
    return {"Fn::Sub": text}


def ref(name: str) -> Part:
    """Return a reference to a parameter or resource."""
    return {"Ref": name}


def attribute(name: str, attribute_name: str = "Arn") -> Part:
    """Return a reference to an attribute of a resource."""
    return {"Fn::GetAtt": [name, attribute_name]}


def table_arn(short: str, index: str = "") -> Part:
    """Return the ARN of a table of the data's stack, or of one of its indexes."""
    path = f"{SETTINGS.name}-{short}" + (f"/index/{index}" if index else "")
    return sub(f"arn:${{AWS::Partition}}:dynamodb:{_HERE}:table/{path}")


def bucket_arn(path: str = "") -> Part:
    """Return the ARN of the bucket of the data's stack, or of objects in it."""
    return sub(f"arn:${{AWS::Partition}}:s3:::{SETTINGS.bucket}{path}")


def queue_arn(short: str) -> Part:
    """Return the ARN of a queue as an expression that the service's stack can use."""
    if short == INCOMING:
        return sub(f"arn:${{AWS::Partition}}:sqs:{_HERE}:{SETTINGS.name}-{short}")
    # This reference makes CloudFormation create the queue first.
    return sub(f"${{{queue_id(short)}.Arn}}")


def camel(short: str) -> str:
    """Convert a short name to the form of logical names: `train-free` becomes `TrainFree`."""
    return "".join(word.capitalize() for word in short.replace("_", "-").split("-"))


def short_name(full: str) -> str:
    """Remove the stack's name from the beginning of a resource's name."""
    return full.removeprefix(f"{SETTINGS.name}-")


def table_id(short: str) -> str:
    """Return the logical name of a table."""
    return f"{camel(short)}Table"


def queue_id(short: str) -> str:
    """Return the logical name of a queue."""
    return f"{camel(short)}Queue"


def dead_queue_id(short: str) -> str:
    """Return the logical name of a queue's dead-letter queue."""
    return f"{camel(short)}DeadQueue"


# Condition: whether X-Ray traces calls and jobs.
HAS_TRACING = "HasTracing"
# Logical names.
BUCKET, SECRET = "DataBucket", "SigningKey"
# Output of the data's stack, parameter and output of the service's.
SECRET_ARN = "SigningKeyArn"  # noqa: S105 - a name
