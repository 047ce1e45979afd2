"""Template facts that LocalStack does not check."""

from __future__ import annotations

from typing import Any

import pytest

from infra.template.names import BUCKET

DATA = ("AWS::DynamoDB::Table", "AWS::S3::Bucket")


def of_type(template: dict[str, Any], *kinds: str) -> dict[str, Any]:
    """Return the resources of some types."""
    return {name: part for name, part in template["Resources"].items() if part["Type"] in kinds}


def unconditional(value: dict[str, Any]) -> dict[str, Any]:
    """Return what a value of a template is if its condition holds."""
    return dict(value["Fn::If"][1]) if "Fn::If" in value else value


@pytest.mark.not_proved("privacy of the bucket: an unsigned GET is answered")
def test_nothing_opens_the_bucket(data: dict[str, Any]) -> None:
    """Public access is blocked, owners are enforced, and no policy allows anything."""
    facts = data["Resources"][BUCKET]["Properties"]
    policy = data["Resources"][f"{BUCKET}Policy"]["Properties"]["PolicyDocument"]

    assert all(facts["PublicAccessBlockConfiguration"].values())
    assert len(facts["PublicAccessBlockConfiguration"]) == 4
    assert facts["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert {statement["Effect"] for statement in policy["Statement"]} == {"Deny"}


@pytest.mark.not_proved("enforcement of IAM policies: every call is allowed")
def test_rights_are_narrow(template: dict[str, Any]) -> None:
    """No function's statement has a star for an action, or for all resources but traces.

    X-Ray's actions cannot be limited to a resource. Which actions a function needs is compared with
    what it calls in tests/policies.
    """
    for name, role in of_type(template, "AWS::IAM::Role").items():
        for policy in map(unconditional, role["Properties"].get("Policies", ())):
            for statement in policy["PolicyDocument"]["Statement"]:
                assert not any("*" in action for action in statement["Action"]), name
                is_trace = all(action.startswith("xray:Put") for action in statement["Action"])
                assert is_trace or statement["Resource"] != "*", name


@pytest.mark.not_proved("CloudFormation: point-in-time recovery")
def test_tables_can_be_restored(data: dict[str, Any]) -> None:
    """Every table except API keys has point-in-time recovery."""
    for name, table in of_type(data, "AWS::DynamoDB::Table").items():
        facts = table["Properties"]["PointInTimeRecoverySpecification"]
        is_recovered = name != "ApiKeysTable"
        assert facts == {"PointInTimeRecoveryEnabled": is_recovered}, name


@pytest.mark.not_proved("CloudFormation: lifecycle of the bucket")
def test_short_lived_objects_are_deleted(data: dict[str, Any]) -> None:
    """Temporary objects expire after a day, batches after 31; nothing else expires."""
    rules = data["Resources"][BUCKET]["Properties"]["LifecycleConfiguration"]["Rules"]

    assert {rule["Status"] for rule in rules} == {"Enabled"}
    assert {r["Prefix"]: r["ExpirationInDays"] for r in rules if "ExpirationInDays" in r} == {
        "incoming/": 1,
        "tmp/": 1,
        "exports/": 1,
        "batches/": 31,
    }
    parts = [r for r in rules if "AbortIncompleteMultipartUpload" in r]
    assert [r["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] for r in parts] == [1]


@pytest.mark.not_proved("CloudFormation: retention of logs")
def test_logs_end(template: dict[str, Any]) -> None:
    """Every log group expires its events after the days of the parameter."""
    groups = of_type(template, "AWS::Logs::LogGroup")

    assert groups
    for name, group in groups.items():
        assert group["Properties"]["RetentionInDays"] == {"Ref": "LogDays"}, name


@pytest.mark.not_proved("CloudFormation: updates in place, and what outlives a stack")
def test_data_outlives_its_stack(data: dict[str, Any]) -> None:
    """Tables and bucket are retained when the stack is deleted or would replace them.

    A name that held anything but the stack's own, account and region would replace a resource.
    """
    parts = of_type(data, *DATA)
    assert parts
    for name, part in parts.items():
        kept = (part["DeletionPolicy"], part["UpdateReplacePolicy"])
        assert kept == ("RetainExceptOnCreate", "Retain"), name
        facts = part["Properties"]
        text = facts.get("TableName", facts.get("BucketName"))["Fn::Sub"]
        for known in ("${Name}", "${AWS::AccountId}", "${AWS::Region}"):
            text = text.replace(known, "")
        assert "$" not in text, name
