"""The data's stack: tables, bucket, the queue for the bucket's notifications, and the signing key.

Updates of the service do not change this stack, and it remains when the service is removed.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain.jobs.batch import BATCH_KEPT
from chalicelib.stores.aws.objects import BATCHES, EXPORTS
from chalicelib.stores.aws.tables import ApiKeyRow, table_name
from chalicelib.stores.jobs.queues import INCOMING
from chalicelib.web.http.cors import MAX_AGE_SECONDS
from infra import resources
from infra.resources import TableResource
from infra.template.names import (
    BUCKET,
    KEEP,
    SECRET,
    SECRET_ARN,
    SETTINGS,
    Part,
    attribute,
    bucket_arn,
    queue_id,
    ref,
    short_name,
    sub,
    table_id,
)
from infra.template.parameters import data_parameters, has_origins
from infra.template.queues import queues

_INCOMING_POLICY = "IncomingQueuePolicy"
# Origins of every stage's console, because the bucket is created before its own stage has an
# address.
CONSOLE_ORIGIN = "https://*.execute-api.${AWS::Region}.${AWS::URLSuffix}"
# Prefixes whose objects are deleted after a number of days.
SHORT_LIVED = {"incoming/": 1, "tmp/": 1, EXPORTS: 1, BATCHES: BATCH_KEPT.days + 1}
# Days for which a deleted or overwritten object can be restored.
VERSION_DAYS = 7


def data_template() -> Part:
    """Return the template of the data's stack."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Presage: the data of a stage.",
        "Parameters": data_parameters(),
        "Conditions": has_origins(),
        "Resources": storage(),
        "Outputs": {
            "BucketName": {"Value": ref(BUCKET)},
            SECRET_ARN: {"Value": ref(SECRET)},
        },
    }


def storage() -> Part:
    """Return all resources with data, and the queue for the bucket's notifications."""
    parts: Part = {}
    for table in resources.table_resources(SETTINGS):
        parts[table_id(short_name(table.name))] = _table(table)
    # The bucket checks the queue's policy when it is created, so the policy cannot be in the
    # service's stack.
    parts |= queues((INCOMING,))
    parts[_INCOMING_POLICY] = _incoming_policy()
    parts[BUCKET] = _bucket()
    parts[f"{BUCKET}Policy"] = _bucket_policy()
    parts[SECRET] = _secret()
    return parts


def _table(table: TableResource) -> Part:
    properties: Part = {
        "TableName": sub(table.name),
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [dict(entry) for entry in table.attributes],
        "KeySchema": [dict(entry) for entry in table.keys],
        # Without point-in-time recovery, because a recovered table would contain revoked API keys.
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": table.name != table_name(SETTINGS, ApiKeyRow)
        },
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


def _incoming_policy() -> Part:
    """Return the policy that lets only the bucket of this account send to the queue."""
    arn = attribute(queue_id(INCOMING))
    document = resources.incoming_policy(arn, bucket_arn())
    document["Statement"][0]["Condition"]["StringEquals"] = {
        "aws:SourceAccount": ref("AWS::AccountId")
    }
    return {
        "Type": "AWS::SQS::QueuePolicy",
        "Properties": {"Queues": [ref(queue_id(INCOMING))], "PolicyDocument": document},
    }


def _bucket() -> Part:
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
            "VersioningConfiguration": {"Status": "Enabled"},
            "LifecycleConfiguration": {"Rules": _lifecycle()},
            "CorsConfiguration": {
                "CorsRules": [
                    _cors([sub(CONSOLE_ORIGIN)]),
                    {"Fn::If": ["HasOrigins", _cors(ref("AllowedOrigins")), ref("AWS::NoValue")]},
                ]
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
    """Return rules that delete short-lived objects, old versions and unfinished uploads."""
    rules = [
        {
            "Id": prefix.strip("/"),
            "Prefix": prefix,
            "Status": "Enabled",
            "ExpirationInDays": days,
            "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
        }
        for prefix, days in SHORT_LIVED.items()
    ]
    unfinished = {"DaysAfterInitiation": 1}
    return [
        *rules,
        {
            "Id": "versions",
            "Status": "Enabled",
            "NoncurrentVersionExpiration": {"NoncurrentDays": VERSION_DAYS},
            # A deletion marker without any version.
            "ExpiredObjectDeleteMarker": True,
        },
        {"Id": "parts", "Status": "Enabled", "AbortIncompleteMultipartUpload": unfinished},
    ]


def _cors(origins: Any) -> Part:
    """Return the rule that lets pages of some origins send presigned forms and show images."""
    return {**resources.cors_rule(origins), "MaxAge": MAX_AGE_SECONDS}


def _bucket_policy() -> Part:
    """Return the policy that refuses calls without TLS."""
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
    """Return the key that signs tokens, which AWS generates."""
    # It is part of the data, so that tokens stay valid when the service is deployed again. AWS
    # chooses its name, because the name of a deleted secret cannot be used again for days.
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
