"""Describes tables, queues and bucket; `provision` creates them on any endpoint.

`provision` may be run several times; existing resources stay unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from botocore.exceptions import ClientError

from chalicelib.config import Settings
from chalicelib.stores.aws import tables
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.jobs.queues import (
    DELETE,
    DELIVER,
    EMBED,
    EXPORT,
    INCOMING,
    INGEST,
    TRAIN_FREE,
    TRAIN_PAID,
    queue_name,
)

# Deliveries of a message before it goes to the dead-letter queue. This is more than the attempts of
# a job, because deliveries that Lambda refuses for lack of concurrency count too.
MAX_RECEIVES = 5
# How long a queue keeps a message.
RETENTION_SECONDS = 14 * 24 * 3600


@dataclass(frozen=True)
class TableResource:
    """One on-demand table."""

    name: str
    attributes: tuple[dict[str, str], ...]
    keys: tuple[dict[str, str], ...]
    indexes: tuple[dict[str, Any], ...]
    ttl_attribute: str | None = None
    """Attribute with the time at which a row expires."""

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the key attributes, the partition key first."""
        return tuple(key["AttributeName"] for key in self.keys)


@dataclass(frozen=True)
class QueueResource:
    """One queue and its dead-letter queue."""

    name: str
    """Full name. The dead-letter queue has the same name with `-dead` at its end."""
    visibility_seconds: int
    """How long a received message is hidden from other workers."""

    @property
    def dead_name(self) -> str:
        """Full name of the dead-letter queue."""
        return f"{self.name}-dead"


def table_resources(settings: Settings) -> tuple[TableResource, ...]:
    """Return a description of each table that the row classes declare."""
    return tuple(_table_resource(settings, row) for row in tables.ROWS)


def queue_resources(settings: Settings, visibility_seconds: int) -> tuple[QueueResource, ...]:
    """Return a description of each queue that a handler reads."""
    return tuple(
        QueueResource(queue_name(settings, short), visibility_seconds)
        for short in (INGEST, EMBED, TRAIN_PAID, TRAIN_FREE, DELETE, EXPORT, DELIVER, INCOMING)
    )


def own_pages(port: int) -> tuple[str, ...]:
    """Return the web origins of the local stack's console, which listens on `port`."""
    return f"http://127.0.0.1:{port}", f"http://localhost:{port}"


def provision(
    settings: Settings, visibility_seconds: int = 5400, pages: Sequence[str] = ()
) -> None:
    """Create tables, queues and bucket if they are missing.

    Args:
        settings: names of tables, queues and bucket; endpoint of AWS; allowed origins.
        visibility_seconds: visibility timeout of the queues. On AWS it is at least six times a
            function's timeout. On the local stack it is short, because workers send heartbeats.
        pages: origins of the console, which may send presigned forms, like the allowed origins.
    """
    clients = Clients(settings)
    for table in table_resources(settings):
        _create_table(clients.dynamodb, table)
    for queue in queue_resources(settings, visibility_seconds):
        _create_queue(clients.sqs, queue)
    _create_bucket(clients.s3, settings)
    _allow_origins(clients.s3, settings, pages)
    _notify(clients, settings)


def _table_resource(settings: Settings, row: Any) -> TableResource:
    """Return the description of the table that a row class declares."""
    schema = row._get_schema()
    indexes = tuple(
        {
            "IndexName": index["index_name"],
            "KeySchema": _in_order(index["key_schema"]),
            "Projection": index["projection"],
        }
        for index in schema["global_secondary_indexes"]
    )
    return TableResource(
        name=tables.table_name(settings, row),
        attributes=tuple(sorted(schema["attribute_definitions"], key=itemgetter("AttributeName"))),
        keys=tuple(_in_order(schema["key_schema"])),
        indexes=indexes,
        ttl_attribute="expires_at" if hasattr(row, "expires_at") else None,
    )


def _in_order(keys: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Put the partition key (HASH) before the sort key (RANGE), as CloudFormation requires."""
    return sorted(keys, key=itemgetter("KeyType"))


def _create_table(dynamodb: Any, table: TableResource) -> None:
    """Create one table, and wait until it exists."""
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
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
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
    retention = {"MessageRetentionPeriod": str(RETENTION_SECONDS)}
    dead_url = sqs.create_queue(QueueName=queue.dead_name, Attributes=retention)["QueueUrl"]
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
    """Create the bucket. In us-east-1, S3 accepts no location constraint."""
    request: dict[str, Any] = {"Bucket": settings.bucket}
    if settings.region != "us-east-1":
        request["CreateBucketConfiguration"] = {"LocationConstraint": settings.region}
    try:
        s3.create_bucket(**request)
    except ClientError as error:
        if error.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
            raise


def _allow_origins(s3: Any, settings: Settings, pages: Sequence[str]) -> None:
    """Allow pages of the console and of the allowed origins to send forms and show images."""
    origins = [*pages, *settings.allow_origins]
    # S3 accepts no rule without an origin.
    if origins:
        rules = {"CORSRules": [cors_rule(origins)]}
        s3.put_bucket_cors(Bucket=settings.bucket, CORSConfiguration=rules)


def cors_rule(origins: Any) -> dict[str, Any]:
    """Return the CORS rule of the bucket for pages of some origins, without credentials.

    Args:
        origins: list of origins, or a template expression for the list.
    """
    return {"AllowedOrigins": origins, "AllowedMethods": ["GET", "POST"], "AllowedHeaders": ["*"]}


def _notify(clients: Clients, settings: Settings) -> None:
    """Configure the bucket to send a message to a queue for each file that a form has uploaded."""
    name = queue_name(settings, INCOMING)
    url = clients.sqs.get_queue_url(QueueName=name)["QueueUrl"]
    asked = clients.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = asked["Attributes"]["QueueArn"]
    policy = incoming_policy(arn, f"arn:aws:s3:::{settings.bucket}")
    clients.sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    clients.s3.put_bucket_notification_configuration(
        Bucket=settings.bucket,
        NotificationConfiguration={"QueueConfigurations": [incoming_notification(arn)]},
    )


def incoming_policy(queue_arn: Any, bucket_arn: Any) -> dict[str, Any]:
    """Return the policy that lets only the bucket send to its queue."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "s3.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": queue_arn,
                "Condition": {"ArnEquals": {"aws:SourceArn": bucket_arn}},
            }
        ],
    }


def incoming_notification(queue_arn: Any) -> dict[str, Any]:
    """Return the bucket's notification about new files below `incoming/`."""
    rule = {"Name": "prefix", "Value": "incoming/"}
    return {
        "QueueArn": queue_arn,
        "Events": ["s3:ObjectCreated:*"],
        "Filter": {"Key": {"FilterRules": [rule]}},
    }
