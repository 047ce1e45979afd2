"""The deployment's template, made by CloudFormation's change sets, with the code that deploys."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from chalicelib.container import Container
from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from infra.provision import GLOBAL_DATASETS, install_globals
from infra.resources import MAX_RECEIVES
from infra.template.functions import BY_QUEUE, FUNCTIONS, visibility_seconds
from infra.template.names import BUCKET, SECRET, SECRET_ARN
from infra.template.rights import role_id
from tests.localstack import described
from tests.localstack.stack import Made


def test_the_change_set_shows_all_that_is_made(made: Made) -> None:
    """Each resource is shown before it is made, and each one shown is made."""
    found = made.resources()

    assert {stack.status() for stack in made.stacks} == {"CREATE_COMPLETE"}
    shown = [change for changes in made.changes for change in changes]
    assert {change.action for change in shown} == {"Add"}
    assert {change.logical for change in shown} == set(found)
    assert {part["ResourceStatus"] for part in found.values()} == {"CREATE_COMPLETE"}
    optional = {name for name, part in made.parts.items() if "Condition" in part}
    assert set(made.parts) - set(found) <= optional


def test_every_kind_of_resource_is_there(made: Made) -> None:
    """Leaving functions out has left nothing else out."""
    counts = Counter(part["Type"] for part in made.parts.values())

    assert set(counts) == {
        "AWS::Budgets::Budget",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::DynamoDB::Table",
        "AWS::IAM::Role",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Topic",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::SecretsManager::Secret",
        "AWS::WAFv2::WebACL",
    }
    assert counts["AWS::SQS::Queue"] == 2 * len(BY_QUEUE)


def test_tables_and_queues_are_those_of_the_local_stack(made: Made) -> None:
    """The template makes what `provision` makes, with the deployment's time for messages."""
    settings = made.target.settings

    assert described.tables(made.client("dynamodb"), settings) == described.wanted_tables(settings)
    assert described.queues(made.client("sqs"), settings) == {
        f"-{short}": {
            "days": {14.0},
            "visibility": visibility_seconds(short),
            "is_dead_after": MAX_RECEIVES,
            "goes_to_its_own": True,
        }
        for short in BY_QUEUE
    }


def test_the_bucket_is_closed_and_encrypted(made: Made) -> None:
    """Public access is blocked, objects are encrypted, and plain HTTP is denied."""
    s3, bucket = made.client("s3"), made.target.data_bucket
    closed = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    rules = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    policy = json.loads(s3.get_bucket_policy(Bucket=bucket)["Policy"])

    assert len(closed) == 4
    assert all(closed.values())
    assert rules[0]["ApplyServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert [part["Effect"] for part in policy["Statement"]] == ["Deny"]
    assert made.resources()[BUCKET]["PhysicalResourceId"] == bucket
    assert made.stacks[0].outputs()["BucketName"] == bucket


def test_the_bucket_notifies_its_queue(made: Made) -> None:
    """A file below incoming/ arrives as a message; the queue admits the bucket alone."""
    s3, sqs, bucket = made.client("s3"), made.client("sqs"), made.target.data_bucket
    url = sqs.get_queue_url(QueueName=f"{made.target.stack}-incoming")["QueueUrl"]
    policy = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])["Attributes"]

    s3.put_object(Bucket=bucket, Key="incoming/account/1", Body=b"x")

    assert "incoming/account/1" in _arrived_keys(sqs, url)
    [statement] = json.loads(policy["Policy"])["Statement"]
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Condition"]["ArnEquals"]["aws:SourceArn"] == f"arn:aws:s3:::{bucket}"
    assert statement["Condition"]["StringEquals"]["aws:SourceAccount"] == made.target.account_id


def _arrived_keys(sqs: Any, url: str) -> list[str]:
    """Wait for messages and return the keys that they name."""
    keys: list[str] = []
    deadline = time.monotonic() + 30
    while not keys and time.monotonic() < deadline:
        answer = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5, MaxNumberOfMessages=10)
        for message in answer.get("Messages", ()):
            records = json.loads(message["Body"]).get("Records", ())
            keys += [record["s3"]["object"]["key"] for record in records]
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return keys


def test_each_function_has_a_role_for_itself(made: Made) -> None:
    """Roles can be taken by Lambda alone; their resources are this stack's, filled in."""
    iam, resources = made.client("iam"), made.resources()
    for function in FUNCTIONS:
        name = resources[role_id(function)]["PhysicalResourceId"]
        trust = iam.get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"]
        [policy] = iam.list_role_policies(RoleName=name)["PolicyNames"]
        document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]

        assert trust["Statement"][0]["Principal"] == {"Service": "lambda.amazonaws.com"}
        for statement in document["Statement"]:
            assert made.target.stack in str(statement["Resource"]), (function.name, statement)
            assert "${" not in str(statement["Resource"])


def test_the_signing_key_is_drawn(made: Made) -> None:
    """The secret holds a key long enough, and the stack gives its name out."""
    name = made.stacks[0].outputs()[SECRET_ARN]
    drawn = made.client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]

    assert made.resources()[SECRET]["PhysicalResourceId"] == name
    assert made.stacks[1].outputs()[SECRET_ARN] == name
    assert len(drawn) == 64
    assert drawn.isalnum()


def test_alarms_and_logs_are_there(made: Made) -> None:
    """Each function has its log group, and each alarm of the template exists."""
    groups = made.client("logs").describe_log_groups(
        logGroupNamePrefix=f"/presage/{made.target.stack}/"
    )
    paginator = made.client("cloudwatch").get_paginator("describe_alarms")
    alarms = [
        alarm["AlarmName"]
        for page in paginator.paginate(AlarmNamePrefix=f"{made.target.stack}-")
        for alarm in page["MetricAlarms"]
    ]
    kinds = Counter(part["Type"] for part in made.parts.values())

    assert len(groups["logGroups"]) == kinds["AWS::Logs::LogGroup"] == len(FUNCTIONS) + 1
    assert len(alarms) == len(set(alarms))
    wanted = {
        part["Properties"]["AlarmName"]["Fn::Sub"].replace("${Name}", made.target.stack)
        for part in made.parts.values()
        if part["Type"] == "AWS::CloudWatch::Alarm"
    }
    assert set(alarms) == wanted


def test_the_service_runs_on_what_was_made(made: Made) -> None:
    """Uploads of every kind are read into the stack's tables and bucket by the service itself."""
    install_globals(made.target.settings)

    datasets = Container(made.target.settings).stores.datasets
    found = [
        dataset
        for family in (LANGUAGE, VISION)
        for dataset in datasets.of_account(GLOBAL_ACCOUNT_ID, family)
    ]
    assert {dataset.name for dataset in found} == set(GLOBAL_DATASETS.values())
    assert all(dataset.available for dataset in found)
