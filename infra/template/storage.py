"""Tables, queues, bucket and signing key of the template, from infra/resources.py."""

from __future__ import annotations

from typing import Any

from chalicelib.stores.jobs.queues import INCOMING
from infra import resources
from infra.resources import QueueResource, TableResource
from infra.template.functions import visibility_seconds
from infra.template.names import (
    BUCKET,
    KEEP,
    SECRET,
    SETTINGS,
    Part,
    attribute,
    dead_queue_id,
    queue_id,
    ref,
    short_name,
    sub,
    table_id,
)

_BUCKET_ARN = f"arn:${{AWS::Partition}}:s3:::{SETTINGS.bucket}"
_INCOMING_POLICY = "IncomingQueuePolicy"
SHORT_LIVED = ("incoming/", "tmp/")
"""Prefixes whose objects are deleted after a day."""


def storage() -> Part:
    """Return every resource that holds something."""
    parts: Part = {}
    for table in resources.table_resources(SETTINGS):
        parts[table_id(short_name(table.name))] = _table(table)
    for queue in resources.queue_resources(SETTINGS, 0):
        short = short_name(queue.name)
        parts[queue_id(short)] = _queue(queue, short)
        parts[dead_queue_id(short)] = _dead_queue(queue)
    parts[_INCOMING_POLICY] = _incoming_policy()
    parts[BUCKET] = _bucket()
    parts[f"{BUCKET}Policy"] = _bucket_policy()
    parts[SECRET] = _secret()
    return parts


def _table(table: TableResource) -> Part:
    """Describe a table."""
    properties: Part = {
        "TableName": sub(table.name),
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [dict(entry) for entry in table.attributes],
        "KeySchema": [dict(entry) for entry in table.keys],
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "SSESpecification": {"SSEEnabled": True},
    }
    if table.indexes:
        properties["GlobalSecondaryIndexes"] = [dict(index) for index in table.indexes]
    if table.ttl_attribute is not None:
        properties["TimeToLiveSpecification"] = {
            "AttributeName": table.ttl_attribute,
            "Enabled": True,
        }
    return {"Type": "AWS::DynamoDB::Table", **KEEP, "Properties": properties}


def _queue(queue: QueueResource, short: str) -> Part:
    """Describe a queue; rows are the truth and the sweep sends again, so it may go."""
    return _any_queue(
        queue.name,
        VisibilityTimeout=visibility_seconds(short),
        RedrivePolicy={
            "deadLetterTargetArn": attribute(dead_queue_id(short)),
            "maxReceiveCount": resources.MAX_RECEIVES,
        },
    )


def _dead_queue(queue: QueueResource) -> Part:
    """Describe the queue of what failed too often."""
    return _any_queue(queue.dead_name)


def _any_queue(name: str, **more: Any) -> Part:
    """Describe either kind of queue."""
    properties = {
        "QueueName": sub(name),
        "MessageRetentionPeriod": resources.RETENTION_SECONDS,
        "SqsManagedSseEnabled": True,
        **more,
    }
    return {
        "Type": "AWS::SQS::Queue",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": properties,
    }


def _incoming_policy() -> Part:
    """Let the bucket, of this account, send to its queue."""
    arn = attribute(queue_id(INCOMING))
    document = resources.incoming_policy(arn, sub(_BUCKET_ARN))
    document["Statement"][0]["Condition"]["StringEquals"] = {
        "aws:SourceAccount": ref("AWS::AccountId")
    }
    return {
        "Type": "AWS::SQS::QueuePolicy",
        "Properties": {"Queues": [ref(queue_id(INCOMING))], "PolicyDocument": document},
    }


def _bucket() -> Part:
    """Describe the bucket."""
    notification = resources.incoming_notification(attribute(queue_id(INCOMING)))
    rules = [
        {"Name": r["Name"], "Value": r["Value"]}
        for r in notification["Filter"]["Key"]["FilterRules"]
    ]
    return {
        "Type": "AWS::S3::Bucket",
        **KEEP,
        "DependsOn": [_INCOMING_POLICY],
        "Properties": {
            "BucketName": sub(SETTINGS.bucket),
            "PublicAccessBlockConfiguration": {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
                ]
            },
            "LifecycleConfiguration": {"Rules": _lifecycle()},
            "CorsConfiguration": {
                "Fn::If": ["HasOrigins", {"CorsRules": [_cors()]}, ref("AWS::NoValue")]
            },
            "NotificationConfiguration": {
                "QueueConfigurations": [
                    {
                        "Event": event,
                        "Queue": notification["QueueArn"],
                        "Filter": {"S3Key": {"Rules": rules}},
                    }
                    for event in notification["Events"]
                ]
            },
        },
    }


def _lifecycle() -> list[Part]:
    """Delete what is of one day, and the parts of uploads that were never finished."""
    rules = [
        {"Id": prefix.strip("/"), "Prefix": prefix, "Status": "Enabled", "ExpirationInDays": 1}
        for prefix in SHORT_LIVED
    ]
    unfinished = {"DaysAfterInitiation": 1}
    return [
        *rules,
        {"Id": "parts", "Status": "Enabled", "AbortIncompleteMultipartUpload": unfinished},
    ]


def _cors() -> Part:
    """Let pages of the named origins send presigned forms and show pictures."""
    return {
        "AllowedOrigins": ref("AllowedOrigins"),
        "AllowedMethods": ["GET", "POST"],
        "AllowedHeaders": ["*"],
        "MaxAge": 3_600,
    }


def _bucket_policy() -> Part:
    """Refuse calls without TLS."""
    statement = {
        "Sid": "OnlyTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [attribute(BUCKET), sub(f"${{{BUCKET}.Arn}}/*")],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {
            "Bucket": ref(BUCKET),
            "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        },
    }


def _secret() -> Part:
    """Have the key that signs tokens drawn; nobody ever sees it.

    It has no name of its own and goes with its stack: a stack that is made anew could not take a
    kept one over, and callers get new tokens by a new assertion.
    """
    drawn = {"PasswordLength": 64, "ExcludePunctuation": True}
    return {
        "Type": "AWS::SecretsManager::Secret",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "Description": "Signs access and refresh tokens.",
            "GenerateSecretString": drawn,
        },
    }
