"""The deployed tables, queues and bucket are those that `provision` makes, made safe for AWS."""

from __future__ import annotations

import json
import warnings
from typing import Any

import boto3
import pytest

from chalicelib.config import Settings
from chalicelib.stores.jobs.queues import INCOMING
from infra.resources import provision, queue_resources, table_resources
from infra.template.functions import BY_QUEUE, visibility_seconds
from infra.template.merging import merge_template
from infra.template.names import BUCKET, KEEP, SECRET, SECRET_ARN, table_id
from infra.template.parameters import data_parameters, parameters
from infra.template.queues import queues
from infra.template.storage import data_template, storage
from tests.held import reset_aws

NAME = "shop"
SETTINGS = Settings(name=NAME, bucket="shop-data-123456789012-us-east-1")


@pytest.fixture
def made_by(aws_in_memory: None) -> Any:
    """What there is after the template, or `provision`, made it."""

    def describe(way: str) -> dict[str, Any]:
        reset_aws()
        if way == "template":
            _create_stack()
        else:
            provision(SETTINGS)
        return {
            "tables": _tables(),
            "queues": _queues(),
            "notifications": _notifications(),
            "ttl": _ttl(),
        }

    return describe


def _create_stack() -> None:
    """Let CloudFormation make what holds something: the data, and the service's queues."""
    service = {"Parameters": data_parameters(), "Resources": queues(set(BY_QUEUE) - {INCOMING})}
    client = boto3.session.Session(region_name="us-east-1").client("cloudformation")
    name = {"ParameterKey": "Name", "ParameterValue": NAME}
    with warnings.catch_warnings():
        # The emulator has neither policies nor secrets of a stack; cfn-lint reads those.
        warnings.simplefilter("ignore")
        for stack, template in (("shop-data", data_template()), ("shop", service)):
            body = json.dumps(template)
            client.create_stack(StackName=stack, TemplateBody=body, Parameters=[name])


def _tables() -> dict[str, Any]:
    """Describe every table by name."""
    client = boto3.session.Session(region_name="us-east-1").client("dynamodb")
    found = {}
    for name in client.list_tables()["TableNames"]:
        table = client.describe_table(TableName=name)["Table"]
        indexes = [
            {key: index[key] for key in ("IndexName", "KeySchema", "Projection")}
            for index in table.get("GlobalSecondaryIndexes", ())
        ]
        found[name] = {
            "keys": table["KeySchema"],
            "attributes": table["AttributeDefinitions"],
            "indexes": indexes,
            "billing": table["BillingModeSummary"],
        }
    return found


def _ttl() -> dict[str, str]:
    """List the attributes after whose time rows disappear, by table."""
    client = boto3.session.Session(region_name="us-east-1").client("dynamodb")
    found = {}
    for name in client.list_tables()["TableNames"]:
        facts = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        if "AttributeName" in facts:
            found[name] = facts["AttributeName"]
    return found


def _queues() -> dict[str, Any]:
    """Describe every queue by name."""
    client = boto3.session.Session(region_name="us-east-1").client("sqs")
    compared = ("MessageRetentionPeriod", "DelaySeconds")
    found = {}
    for url in client.list_queues()["QueueUrls"]:
        facts = client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        found[url.rsplit("/")[-1]] = {
            **{name: facts[name] for name in compared},
            "redrive": json.loads(facts.get("RedrivePolicy", "{}")),
        }
    return found


def _notifications() -> Any:
    """Describe the notifications of the bucket."""
    client = boto3.session.Session(region_name="us-east-1").client("s3")
    answer = client.get_bucket_notification_configuration(Bucket=SETTINGS.bucket)
    return [
        (q["QueueArn"], q["Events"], q["Filter"]) for q in answer.get("QueueConfigurations", ())
    ]


INDEXES_OF_0_2 = {
    "datasets": {"open": ("open", "updated_at", "ALL")},
    "models": {
        "dataset": ("dataset_id", "created_at", "ALL"),
        "open": ("open", "queued_at", "ALL"),
    },
    "deletions": {"open": ("open", "updated_at", "ALL")},
}
"""Keys and projection of each index of the released version 0.2.0."""


def test_both_ways_make_the_same(made_by: Any) -> None:
    """Template and `provision` create equal tables, queues and notification."""
    deployed, local = made_by("template"), made_by("provision")

    assert deployed["tables"] == local["tables"]
    assert deployed["queues"] == local["queues"]
    assert len(deployed["tables"]) == len(table_resources(SETTINGS))
    assert len(deployed["queues"]) == 2 * len(queue_resources(SETTINGS, 0))
    # The emulator's CloudFormation leaves TTL and notifications out, so the template is read.
    assert local["ttl"] == {
        table["TableName"]["Fn::Sub"].replace("${Name}", NAME): ttl["AttributeName"]
        for table in (part["Properties"] for part in storage().values())
        if (ttl := table.get("TimeToLiveSpecification"))
    }
    assert len(local["ttl"]) == 3
    [(arn, events, filter_)] = local["notifications"]
    [notified] = storage()[BUCKET]["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    assert arn.endswith(":shop-incoming")
    assert notified["Queue"] == {"Fn::GetAtt": ["IncomingQueue", "Arn"]}
    assert [notified["Event"]] == events
    assert notified["Filter"]["S3Key"]["Rules"] == filter_["Key"]["FilterRules"]


def test_tables_are_kept_and_restorable() -> None:
    """Every table has encryption and outlives its stack; all but API keys can be recovered."""
    for row in table_resources(SETTINGS):
        table = storage()[table_id(row.name.removeprefix("shop-"))]
        facts = table["Properties"]
        is_recovered = row.name != "shop-api-keys"
        assert facts["PointInTimeRecoverySpecification"] == {
            "PointInTimeRecoveryEnabled": is_recovered
        }
        assert facts["SSESpecification"] == {"SSEEnabled": True}
        assert {name: table[name] for name in KEEP} == KEEP


def test_bucket_is_closed_and_tidy() -> None:
    """The bucket is private, encrypted, kept, refuses plain HTTP, and expires one-day files."""
    parts = storage()
    bucket = parts[BUCKET]
    facts = bucket["Properties"]
    assert all(facts["PublicAccessBlockConfiguration"].values())
    assert "AES256" in json.dumps(facts["BucketEncryption"])
    assert {name: bucket[name] for name in KEEP} == KEEP
    assert facts["VersioningConfiguration"] == {"Status": "Enabled"}
    rules = facts["LifecycleConfiguration"]["Rules"]
    assert {rule["Id"]: rule.get("ExpirationInDays") for rule in rules} == {
        "incoming": 1,
        "tmp": 1,
        "exports": 1,
        "batches": 31,
        "versions": None,
        "parts": None,
    }
    assert rules[4]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 7}
    assert rules[4]["ExpiredObjectDeleteMarker"] is True
    assert rules[-1]["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    [refusal] = parts[f"{BUCKET}Policy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (refusal["Effect"], refusal["Condition"]) == (
        "Deny",
        {"Bool": {"aws:SecureTransport": "false"}},
    )


def test_only_the_bucket_of_this_account_may_notify() -> None:
    """The queue of arrivals takes messages from the bucket alone."""
    policy = storage()["IncomingQueuePolicy"]["Properties"]["PolicyDocument"]
    [statement] = policy["Statement"]

    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Condition"] == {
        "ArnEquals": {
            "aws:SourceArn": {
                "Fn::Sub": "arn:${AWS::Partition}:s3:::${Name}-data-"
                "${AWS::AccountId}-${AWS::Region}"
            }
        },
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
    }


@pytest.mark.parametrize("queue", list(BY_QUEUE))
def test_messages_are_hidden_long_enough(queue: str) -> None:
    """Visibility timeouts are six times the function's timeout, and queues are encrypted."""
    [facts] = [
        part["Properties"]
        for part in queues().values()
        if part["Properties"].get("QueueName") == {"Fn::Sub": f"${{Name}}-{queue}"}
    ]

    assert facts["VisibilityTimeout"] == visibility_seconds(queue)
    assert facts["VisibilityTimeout"] >= 6 * BY_QUEUE[queue].timeout_seconds
    assert facts["SqsManagedSseEnabled"] is True


def test_service_and_data_share_nothing() -> None:
    """No stateful resource is in the service's stack."""
    service, data = merge_template()["Resources"], data_template()["Resources"]
    kinds = {part.get("Type") for part in service.values()}

    assert not set(service) & set(data)
    assert not kinds & {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret"}
    text = json.dumps(merge_template())
    assert not [name for name in data if f'"{name}"' in text or f"${{{name}." in text]
    assert {name for name, part in data.items() if part["Type"] == "AWS::SQS::Queue"} == {
        "IncomingQueue",
        "IncomingDeadQueue",
    }
    assert SECRET_ARN in data_template()["Outputs"]
    assert SECRET_ARN in parameters()


def test_signing_key_is_long_and_makes_way() -> None:
    """The signing key is long enough, and its name does not block the next stack."""
    secret = storage()[SECRET]

    assert secret["Properties"]["GenerateSecretString"]["PasswordLength"] >= 32
    assert "Name" not in secret["Properties"]
    assert secret["DeletionPolicy"] == "Delete"


@pytest.mark.parametrize("name", ["accounts", "counters", "examples", "quotas", *INDEXES_OF_0_2])
def test_stages_of_before_take_the_indexes(name: str) -> None:
    """At most one index is new, because AWS adds one index at a time."""
    [table] = [one for one in table_resources(SETTINGS) if one.name == f"{NAME}-{name}"]
    described = {
        index["IndexName"]: (
            *[key["AttributeName"] for key in index["KeySchema"]],
            index["Projection"]["ProjectionType"],
        )
        for index in table.indexes
    }

    before = INDEXES_OF_0_2.get(name, {})

    assert before.items() <= described.items()
    assert len(described) - len(before) <= 1
