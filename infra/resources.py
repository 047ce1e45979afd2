"""Tables, queues and bucket, described once; `provision` makes them on any endpoint.

It may be run twice: what exists stays as it is. See chalicelib/stores/tables.py for the keys.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from chalicelib.config import Settings
from chalicelib.stores import tables
from chalicelib.stores.clients import Clients
from chalicelib.stores.queues import DELETE, EMBED, INGEST, TRAIN_FREE, TRAIN_PAID, queue_name

MAX_RECEIVES = 3
"""Deliveries of a message before it goes to the dead-letter queue."""


@dataclass(frozen=True)
class TableResource:
    """One on-demand table."""

    name: str
    """Full name."""
    attributes: tuple[dict[str, str], ...]
    """Key attributes with their types."""
    keys: tuple[dict[str, str], ...]
    """Key schema."""
    indexes: tuple[dict[str, Any], ...]
    """Global secondary indexes."""
    ttl_attribute: str | None = None
    """Attribute after whose time a row disappears."""


@dataclass(frozen=True)
class QueueResource:
    """One queue with its dead-letter queue."""

    name: str
    """Full name; its dead-letter queue ends in `-dead`."""
    visibility_seconds: int
    """How long a received message is hidden from other workers."""


def table_resources(settings: Settings) -> tuple[TableResource, ...]:
    """Describe every table that the rows declare."""
    return tuple(_table_resource(settings, row) for row in tables.ROWS)


def queue_resources(settings: Settings, visibility_seconds: int) -> tuple[QueueResource, ...]:
    """Describe every queue that a handler reads."""
    return tuple(
        QueueResource(queue_name(settings, short), visibility_seconds)
        for short in (INGEST, EMBED, TRAIN_PAID, TRAIN_FREE, DELETE)
    )


def provision(settings: Settings, visibility_seconds: int = 5400) -> None:
    """Make tables, queues and bucket where they are missing.

    Args:
        settings: names and endpoint.
        visibility_seconds: of the queues; on AWS at least six times a function's timeout, on the
            local stack short, because its workers send heartbeats.
    """
    clients = Clients(settings)
    for table in table_resources(settings):
        _create_table(clients.dynamodb, table)
    for queue in queue_resources(settings, visibility_seconds):
        _create_queue(clients.sqs, queue)
    _create_bucket(clients.s3, settings)


def _table_resource(settings: Settings, row: Any) -> TableResource:
    """Read one table's description from its row class."""
    schema = row._get_schema()
    indexes = tuple(
        {
            "IndexName": index["index_name"],
            "KeySchema": list(index["key_schema"]),
            "Projection": {"ProjectionType": "ALL"},
        }
        for index in schema["global_secondary_indexes"]
    )
    return TableResource(
        name=tables.table_name(settings, row),
        attributes=tuple(schema["attribute_definitions"]),
        keys=tuple(schema["key_schema"]),
        indexes=indexes,
        ttl_attribute="expires_at" if row is tables.QuotaRow else None,
    )


def _create_table(dynamodb: Any, table: TableResource) -> None:
    """Create one table and wait until it is there."""
    request: dict[str, Any] = {
        "TableName": table.name,
        "AttributeDefinitions": list(table.attributes),
        "KeySchema": list(table.keys),
        "BillingMode": "PAY_PER_REQUEST",
    }
    if table.indexes:
        request["GlobalSecondaryIndexes"] = list(table.indexes)
    try:
        dynamodb.create_table(**request)
    except ClientError as trouble:
        if trouble.response["Error"]["Code"] != "ResourceInUseException":
            raise
        return
    dynamodb.get_waiter("table_exists").wait(
        TableName=table.name, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )
    if table.ttl_attribute is not None:
        dynamodb.update_time_to_live(
            TableName=table.name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl_attribute},
        )


def _create_queue(sqs: Any, queue: QueueResource) -> None:
    """Create one queue and its dead-letter queue."""
    retention = {"MessageRetentionPeriod": str(14 * 24 * 3600)}
    dead_url = sqs.create_queue(QueueName=f"{queue.name}-dead", Attributes=retention)["QueueUrl"]
    dead_arn = sqs.get_queue_attributes(QueueUrl=dead_url, AttributeNames=["QueueArn"])
    redrive = {
        "deadLetterTargetArn": dead_arn["Attributes"]["QueueArn"],
        "maxReceiveCount": MAX_RECEIVES,
    }
    sqs.create_queue(
        QueueName=queue.name,
        Attributes={
            **retention,
            "VisibilityTimeout": str(queue.visibility_seconds),
            "RedrivePolicy": json.dumps(redrive),
        },
    )


def _create_bucket(s3: Any, settings: Settings) -> None:
    """Create the bucket; us-east-1 takes no location."""
    request: dict[str, Any] = {"Bucket": settings.bucket}
    if settings.region != "us-east-1":
        request["CreateBucketConfiguration"] = {"LocationConstraint": settings.region}
    try:
        s3.create_bucket(**request)
    except ClientError as trouble:
        if trouble.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
            raise
