"""The role of each function. A test compares its rights with the AWS calls of the function.

The rights name a resource `table/NAME`, `table/NAME/index/INDEX`, `queue/NAME`, `bucket`, `secret`,
`objects/PREFIX` (in the bucket) or `objects/datasets/KIND` (in all datasets). The names of actions
omit the AWS service, which follows from the resource. The test is in tests/policies.
"""

from __future__ import annotations

from collections.abc import Mapping

from infra.template.functions import FUNCTIONS, Function
from infra.template.logs import log_group_id
from infra.template.names import (
    HAS_TRACING,
    SECRET_ARN,
    Part,
    attribute,
    bucket_arn,
    queue_arn,
    ref,
    table_arn,
)

# Actions by resource.
Rights = Mapping[str, tuple[str, ...]]

# Actions for sending to a queue.
SEND = ("GetQueueUrl", "SendMessage")
# Actions of Lambda itself, with the function's role, to read the function's queue.
RECEIVE = ("DeleteMessage", "GetQueueAttributes", "ReceiveMessage")
# Actions of Lambda itself, with the function's role, while the parameter Tracing is on.
_TRACE = ("xray:PutTelemetryRecords", "xray:PutTraceSegments")
# Prefix of the actions by kind of resource.
SERVICES = {
    "table": "dynamodb",
    "queue": "sqs",
    "objects": "s3",
    "bucket": "s3",
    "secret": "secretsmanager",
}

_TRAIN: Rights = {
    "bucket": ("ListBucket",),
    "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
    # Archives of models to import.
    "objects/incoming": ("DeleteObject", "GetObject"),
    "objects/models": ("DeleteObject", "GetObject", "PutObject"),
    "objects/prebuilt": ("GetObject",),
    "table/accounts": ("GetItem", "UpdateItem"),
    "table/counters": ("GetItem", "UpdateItem"),
    # The queries recount the stored bytes, against which the size of an import is checked.
    "table/datasets": ("GetItem", "Query", "UpdateItem"),
    "table/examples": ("BatchGetItem",),
    "table/labels": ("BatchGetItem",),
    "table/models": ("GetItem", "Query", "UpdateItem"),
    "table/models/index/open": ("Query",),
    "queue/deliver": SEND,
    "queue/embed": SEND,
    # A version stays while an unfinished batch uses it.
    "table/exports": ("PutItem", "Query"),
}

# Rights of every function of routes: it reads the caller's account with the API key or refresh
# token, counts calls, and sends events to webhooks.
_CALLED: Rights = {
    "bucket": ("ListBucket",),
    "objects/models": ("GetObject",),
    "objects/prebuilt": ("GetObject",),
    "queue/delete": SEND,
    "queue/deliver": SEND,
    "secret": ("GetSecretValue",),
    "table/accounts": ("BatchGetItem", "GetItem"),
    # The update records when a key was last used.
    "table/api-keys": ("BatchGetItem", "GetItem", "UpdateItem"),
    "table/exports": ("PutItem",),
    "table/models": ("BatchGetItem", "GetItem"),
    "table/quotas": ("GetItem", "UpdateItem"),
    "table/refresh-tokens": ("BatchGetItem",),
}

# Rights of both functions that change examples. They write chunks and indexes of a dataset, and
# clean up after a dataset that was deleted meanwhile.
_EXAMPLES: Rights = {
    "objects/datasets/chunks": ("DeleteObject", "GetObject", "PutObject"),
    "objects/datasets/digests": ("GetObject", "PutObject"),
    "queue/embed": SEND,
    "table/accounts": ("BatchGetItem", "GetItem", "UpdateItem"),
    "table/counters": ("GetItem", "UpdateItem"),
    "table/examples": ("BatchGetItem", "BatchWriteItem", "PutItem", "Query", "UpdateItem"),
    "table/exports": ("DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
}

# Rights for documents, files of datasets and batches, thumbnails, and feedback with images.
_FILES: Rights = {
    **_CALLED,
    **_EXAMPLES,
    "objects/batches": ("DeleteObject", "GetObject", "PutObject"),
    "objects/datasets/images": ("DeleteObject", "GetObject", "PutObject"),
    "objects/datasets/names": ("GetObject", "PutObject"),
    "objects/datasets/parts": ("DeleteObject", "PutObject"),
    "objects/datasets/raw": ("DeleteObject", "GetObject", "PutObject"),
    "objects/datasets/thumbnails": ("DeleteObject", "GetObject", "PutObject"),
    # Images of the pages of PDFs.
    "objects/exports": ("GetObject", "PutObject"),
    "objects/incoming": ("DeleteObject", "GetObject"),
    # Users' texts for an adjustment of a model; they are deleted if the call is refused.
    "objects/models": ("DeleteObject", "GetObject", "PutObject"),
    "queue/ingest": SEND,
    "queue/train-free": SEND,
    "queue/train-paid": SEND,
    "table/datasets": ("GetItem", "PutItem", "Query", "UpdateItem"),
    "table/incoming": ("GetItem", "UpdateItem"),
    "table/labels": ("BatchGetItem", "BatchWriteItem"),
    "table/models": ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    "table/models/index/queued": ("Query",),
    "table/receipts": ("BatchWriteItem", "PutItem", "Query"),
}

# Rights of all other routes. Callers upload files themselves, with this function's signature.
_RECORDS: Rights = {
    **_CALLED,
    **_EXAMPLES,
    "objects/batches": ("DeleteObject", "GetObject"),
    "objects/datasets/images": ("GetObject",),
    "objects/exports": ("GetObject",),
    "objects/incoming": ("PutObject",),
    # The files of a deleted version are deleted too.
    "objects/models": ("DeleteObject", "GetObject"),
    "queue/export": SEND,
    "queue/train-free": SEND,
    "queue/train-paid": SEND,
    "table/api-keys": ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
    "table/datasets": ("BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    "table/deletions": ("GetItem", "PutItem", "UpdateItem"),
    "table/incoming": ("PutItem",),
    "table/labels": ("BatchGetItem", "BatchWriteItem", "GetItem", "UpdateItem"),
    "table/models": (
        "BatchGetItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "UpdateItem",
    ),
    "table/models/index/dataset": ("Query",),
    "table/models/index/queued": ("Query",),
    "table/receipts": ("BatchWriteItem", "Query"),
    "table/refresh-tokens": (
        "BatchGetItem",
        "DeleteItem",
        "PutItem",
        "Query",
        "UpdateItem",
    ),
}

# Rights by handler. Without `ListBucket`, S3 reports a missing object as forbidden.
FUNCTION_RIGHTS: Mapping[str, Rights] = {
    "api_handler": _FILES,
    "records": _RECORDS,
    "texts": _CALLED,
    "pictures": {
        **_CALLED,
        "objects/incoming": ("GetObject",),
        "table/incoming": ("GetItem", "UpdateItem"),
    },
    "ingest_upload": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/incoming": ("DeleteObject", "GetObject"),
        # Older services did not store the sizes of versions.
        "objects/models": ("GetObject",),
        "queue/embed": SEND,
        "queue/ingest": SEND,
        "table/accounts": ("GetItem", "UpdateItem"),
        "table/counters": ("UpdateItem",),
        "table/datasets": ("GetItem", "Query", "UpdateItem"),
        "table/datasets/index/turns": ("Query",),
        "table/examples": ("BatchGetItem", "BatchWriteItem", "PutItem", "Query", "UpdateItem"),
        "table/labels": ("BatchGetItem", "BatchWriteItem"),
        "table/models": ("Query", "UpdateItem"),
        "table/receipts": ("BatchWriteItem", "PutItem", "Query"),
        "queue/deliver": SEND,
        "table/exports": ("PutItem",),
    },
    "embed_texts": {
        "bucket": ("ListBucket",),
        "objects/batches": ("DeleteObject", "GetObject", "PutObject"),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/incoming": ("DeleteObject", "GetObject"),
        "objects/models": ("GetObject",),
        "objects/prebuilt": ("GetObject",),
        "queue/embed": SEND,
        "queue/train-free": SEND,
        "queue/train-paid": SEND,
        "table/accounts": ("GetItem",),
        "table/datasets": ("GetItem",),
        "table/examples": ("BatchGetItem",),
        "table/exports": ("GetItem", "PutItem", "Query", "UpdateItem"),
        "table/models": ("GetItem", "UpdateItem"),
        "table/quotas": ("GetItem", "UpdateItem"),
        "queue/deliver": SEND,
    },
    "train_paid": {**_TRAIN, "queue/train-paid": SEND},
    # Also resends paid jobs, because paying accounts are served first.
    "train_free": {**_TRAIN, "queue/train-free": SEND, "queue/train-paid": SEND},
    "delete_object": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/exports": ("DeleteObject",),
        "objects/models": ("DeleteObject", "GetObject", "PutObject"),
        "queue/delete": SEND,
        "queue/deliver": SEND,
        "table/accounts": ("GetItem", "UpdateItem"),
        "table/counters": ("UpdateItem",),
        "table/datasets": ("DeleteItem", "GetItem", "UpdateItem"),
        "table/deletions": ("UpdateItem",),
        "table/examples": (
            "BatchGetItem",
            "BatchWriteItem",
            "DeleteItem",
            "Query",
            "UpdateItem",
        ),
        "table/labels": ("BatchGetItem", "BatchWriteItem"),
        "table/models": ("DeleteItem", "GetItem"),
        "table/models/index/dataset": ("Query",),
        "table/quotas": ("GetItem", "UpdateItem"),
        "table/receipts": ("BatchWriteItem", "Query"),
        "table/exports": ("DeleteItem", "PutItem", "Query", "UpdateItem"),
        "secret": ("GetSecretValue",),
    },
    "export_dataset": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("GetObject",),
        "objects/exports": ("DeleteObject", "PutObject"),
        "objects/models": ("GetObject",),
        "objects/prebuilt": ("GetObject",),
        "table/datasets": ("GetItem",),
        "table/examples": ("BatchGetItem",),
        "table/exports": ("DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        "table/labels": ("BatchGetItem",),
        "table/models": ("GetItem",),
        "queue/deliver": SEND,
        "table/accounts": ("GetItem",),
    },
    "deliver_event": {
        "queue/deliver": SEND,
        "secret": ("GetSecretValue",),
        "table/accounts": ("GetItem", "UpdateItem"),
        "table/exports": ("UpdateItem",),
        "table/quotas": ("GetItem", "UpdateItem"),
    },
    "receive_upload": {
        "table/incoming": ("UpdateItem",),
    },
    "sweep": {
        "bucket": ("ListBucket",),
        "objects/batches": ("DeleteObject",),
        "objects/exports": ("DeleteObject",),
        "queue/delete": SEND,
        "queue/deliver": SEND,
        "queue/embed": SEND,
        "queue/export": SEND,
        "queue/ingest": SEND,
        "queue/train-free": SEND,
        "queue/train-paid": SEND,
        "table/accounts": ("DeleteItem",),
        "table/accounts/index/closed": ("Query",),
        "table/api-keys": ("DeleteItem", "GetItem"),
        "table/counters": ("DeleteItem", "UpdateItem"),
        "table/datasets": ("GetItem", "Query", "UpdateItem"),
        "table/datasets/index/open": ("Query",),
        "table/datasets/index/turns": ("Query",),
        "table/deletions": ("GetItem", "PutItem", "UpdateItem"),
        "table/deletions/index/open": ("Query",),
        "table/exports": ("DeleteItem", "Query", "UpdateItem"),
        "table/exports/index/open": ("Query",),
        "table/models": ("GetItem", "Query", "UpdateItem"),
        "table/models/index/open": ("Query",),
        "table/models/index/queued": ("Query",),
        "table/quotas": ("DeleteItem", "Query"),
    },
}
_VERSION = "2012-10-17"


def role_id(function: Function) -> str:
    """Return the logical name of a function's role."""
    return f"{function.logical}Role"


def roles() -> Part:
    """Return the roles."""
    return {role_id(function): _role(function) for function in FUNCTIONS}


def trust(service: str) -> Part:
    """Return the policy that lets a service of AWS assume a role."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": _VERSION, "Statement": [statement]}


def statements(function: Function) -> list[Part]:
    """Return the rights of a function, one statement for each resource."""
    found = [
        _statement(resource, actions)
        for resource, actions in FUNCTION_RIGHTS[function.name].items()
    ]
    if function.queue:
        found.append(_statement(f"queue/{function.queue}", RECEIVE))
    logs = {
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": attribute(log_group_id(function)),
    }
    return [*found, logs]


def _statement(resource: str, actions: tuple[str, ...]) -> Part:
    service = SERVICES[resource.partition("/")[0]]
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions],
        "Resource": _arn(resource),
    }


def _arn(resource: str) -> Part:
    """Return the ARN of a resource, given its name in the rights."""
    kind, _, name = resource.partition("/")
    if kind == "table":
        table, _, index = name.partition("/")
        return table_arn(table, index.removeprefix("index/"))
    if kind == "queue":
        return queue_arn(name)
    if kind == "objects":
        prefix, _, part = name.partition("/")
        # In a key, the dataset's id precedes the kind of object.
        return bucket_arn(f"/{prefix}/*/{part}*" if part else f"/{prefix}/*")
    return ref(SECRET_ARN) if kind == "secret" else bucket_arn()


def _role(function: Function) -> Part:
    policy = {
        "PolicyName": "exactly-what-it-does",
        "PolicyDocument": {"Version": _VERSION, "Statement": statements(function)},
    }
    # X-Ray's actions cannot be limited to a resource.
    statement = {"Effect": "Allow", "Action": list(_TRACE), "Resource": "*"}
    tracing = {
        "PolicyName": "traces",
        "PolicyDocument": {"Version": _VERSION, "Statement": [statement]},
    }
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": trust("lambda.amazonaws.com"),
            "Policies": [policy, {"Fn::If": [HAS_TRACING, tracing, ref("AWS::NoValue")]}],
        },
    }
