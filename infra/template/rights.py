"""What each function may do, exactly: a test records its calls and compares.

A resource is `table/NAME`, `table/NAME/index/INDEX`, `queue/NAME`, `objects/PREFIX` of the bucket,
`bucket` or `secret`; its actions are those of its service. See: tests/policies
"""

from __future__ import annotations

from collections.abc import Mapping

Rights = Mapping[str, tuple[str, ...]]
"""Actions by resource."""

SEND = ("GetQueueUrl", "SendMessage")
"""The sending side of a queue."""
RECEIVE = ("DeleteMessage", "GetQueueAttributes", "ReceiveMessage")
"""What Lambda itself does, with the function's role, to bring it the messages of its queue."""
SERVICES = {
    "table": "dynamodb",
    "queue": "sqs",
    "objects": "s3",
    "bucket": "s3",
    "secret": "secretsmanager",
}
"""Prefix of the actions by kind of resource."""

_TRAIN: Rights = {
    "bucket": ("ListBucket",),
    "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
    "objects/models": ("DeleteObject", "GetObject", "PutObject"),
    "objects/prebuilt": ("GetObject",),
    "table/accounts": ("GetItem", "UpdateItem"),
    "table/datasets": ("GetItem", "UpdateItem"),
    "table/examples": ("BatchGetItem",),
    "table/labels": ("BatchGetItem",),
    "table/models": ("GetItem", "UpdateItem"),
}

FUNCTION_RIGHTS: Mapping[str, Rights] = {
    "api_handler": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/incoming": ("DeleteObject", "GetObject", "PutObject"),
        "objects/models": ("GetObject",),
        "objects/prebuilt": ("GetObject",),
        "queue/delete": SEND,
        "queue/embed": SEND,
        "queue/ingest": SEND,
        "queue/train-free": SEND,
        "queue/train-paid": SEND,
        "secret": ("GetSecretValue",),
        "table/accounts": ("GetItem", "UpdateItem"),
        "table/counters": ("UpdateItem",),
        "table/datasets": ("DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        "table/deletions": ("GetItem", "PutItem"),
        "table/examples": ("BatchGetItem", "BatchWriteItem", "PutItem", "Query"),
        "table/incoming": ("GetItem", "PutItem", "UpdateItem"),
        "table/labels": ("BatchGetItem", "BatchWriteItem", "GetItem"),
        "table/models": ("DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        "table/models/index/dataset": ("Query",),
        "table/models/index/open": ("Query",),
        "table/quotas": ("GetItem", "UpdateItem"),
        "table/receipts": ("BatchWriteItem", "PutItem", "Query"),
        "table/refresh-tokens": ("DeleteItem", "GetItem", "PutItem"),
    },
    "ingest_upload": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/incoming": ("DeleteObject", "GetObject"),
        "queue/embed": SEND,
        "table/counters": ("UpdateItem",),
        "table/datasets": ("GetItem", "Query", "UpdateItem"),
        "table/examples": ("BatchGetItem", "BatchWriteItem", "PutItem", "Query"),
        "table/labels": ("BatchGetItem", "BatchWriteItem"),
        "table/receipts": ("BatchWriteItem", "PutItem", "Query"),
    },
    "embed_texts": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject", "GetObject", "PutObject"),
        "objects/prebuilt": ("GetObject",),
        "queue/embed": SEND,
        "table/datasets": ("GetItem",),
    },
    "train_paid": {**_TRAIN, "queue/train-paid": SEND},
    "train_free": {**_TRAIN, "queue/train-free": SEND},
    "delete_object": {
        "bucket": ("ListBucket",),
        "objects/datasets": ("DeleteObject",),
        "objects/models": ("DeleteObject", "GetObject", "PutObject"),
        "queue/delete": SEND,
        "table/datasets": ("DeleteItem", "GetItem"),
        "table/deletions": ("UpdateItem",),
        "table/examples": ("BatchWriteItem", "Query"),
        "table/labels": ("BatchGetItem", "BatchWriteItem"),
        "table/models": ("DeleteItem", "GetItem"),
        "table/models/index/dataset": ("Query",),
        "table/receipts": ("BatchWriteItem", "Query"),
    },
    "receive_upload": {
        "table/incoming": ("UpdateItem",),
    },
    "sweep": {
        "queue/delete": SEND,
        "queue/ingest": SEND,
        "queue/train-free": SEND,
        "queue/train-paid": SEND,
        "table/accounts": ("DeleteItem", "Scan"),
        "table/datasets": ("GetItem", "Query", "UpdateItem"),
        "table/datasets/index/open": ("Query",),
        "table/deletions": ("GetItem", "PutItem", "UpdateItem"),
        "table/deletions/index/open": ("Query",),
        "table/models": ("GetItem", "Query", "UpdateItem"),
        "table/models/index/open": ("Query",),
    },
}
"""By the name of the handler. Without `ListBucket` a missing object would look forbidden."""
