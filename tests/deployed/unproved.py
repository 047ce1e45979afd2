"""What the emulator does not enforce, each with what the template must say of it.

The names are printed at the end of every run. What tests/infra/template asserts in detail is only
looked at here, so that everything named is also asserted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from chalicelib.domain.jobs.messages import DeliverJob, postponed
from infra.resources import MAX_RECEIVES
from infra.template.functions import ANSWERING, SNAPSHOT_DISK_MB
from infra.template.storage import SHORT_LIVED

Template = dict[str, Any]

LONGEST_CHAIN = 16
"""Runs after which Lambda stops a chain of messages by default."""


def _of(template: Template, kind: str) -> list[dict[str, Any]]:
    """Resources of one type."""
    found = [r for r in template["Resources"].values() if r["Type"] == kind]
    assert found, kind
    return found


def _properties(template: Template, kind: str) -> list[dict[str, Any]]:
    """Properties of the resources of one type."""
    return [resource["Properties"] for resource in _of(template, kind)]


def _answer(template: Template, kind: str) -> tuple[str, str]:
    """Status and code of one of the gateway's own answers."""
    api = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    answer = api["x-amazon-apigateway-gateway-responses"][kind]
    body = json.loads(answer["responseTemplates"]["application/json"])
    return answer["statusCode"], body["code"]


def _large_bodies(template: Template) -> None:
    assert _answer(template, "REQUEST_TOO_LARGE") == ("413", "too_large")


def _large_events(template: Template) -> None:
    assert _answer(template, "INTEGRATION_FAILURE")[0] == "502"


def _renamed_challenge(template: Template) -> None:
    api = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    methods = [facts for path in api["paths"].values() for facts in path.values()]
    # Only proxies rename it; the gateway itself answers no 401 that would need the header.
    assert all(m["x-amazon-apigateway-integration"]["type"] == "aws_proxy" for m in methods)
    answers = api["x-amazon-apigateway-gateway-responses"].values()
    assert not any(answer.get("statusCode") == "401" for answer in answers)


def _slow_answers(template: Template) -> None:
    assert template["Resources"]["APIHandler"]["Properties"]["Timeout"] == 29
    assert _answer(template, "INTEGRATION_TIMEOUT") == ("504", "timed_out")


def _throttling(template: Template) -> None:
    settings = template["Resources"]["RestAPI"]["Properties"]["MethodSettings"]
    rates = {one["ResourcePath"]: one["ThrottlingRateLimit"]["Ref"] for one in settings}
    assert rates["/*"] == "RequestsPerSecond"
    assert rates["/~1v2~1vision~1ocr"] == "DocumentsPerSecond"
    assert _answer(template, "THROTTLED") == ("429", "too_many_requests")


def _web_acl(template: Template) -> None:
    assert template["Resources"]["AddressLimitAssociation"]["Condition"] == "HasWebAcl"
    assert _answer(template, "WAF_FILTERED") == ("429", "too_many_requests")


def _access_log(template: Template) -> None:
    assert (
        "requestId" in template["Resources"]["RestAPI"]["Properties"]["AccessLogSetting"]["Format"]
    )


def _memory_and_disk(template: Template) -> None:
    for facts in _properties(template, "AWS::Serverless::Function"):
        assert facts["MemorySize"]["Ref"]
        assert facts["EphemeralStorage"]["Size"] >= 512


def _concurrency(template: Template) -> None:
    for facts in _properties(template, "AWS::Serverless::Function"):
        for event in facts.get("Events", {}).values():
            if event["Type"] == "SQS":
                assert event["Properties"]["ScalingConfig"]["MaximumConcurrency"]["Ref"]


def _chains(template: Template) -> None:
    functions = _properties(template, "AWS::Serverless::Function")
    assert sum(facts.get("RecursiveLoop") == "Allow" for facts in functions) == 6


def _waiting(template: Template) -> None:
    # A message that returned to its queue would be dead after these receives.
    redriven = [q for q in _properties(template, "AWS::SQS::Queue") if "RedrivePolicy" in q]
    assert {q["RedrivePolicy"]["maxReceiveCount"] for q in redriven} == {MAX_RECEIVES}
    messages, again = 1, postponed(DeliverJob(account_id="1", hook_id="h", key="k"))
    while again:
        messages, again = messages + 1, postponed(again[0])
    assert messages < LONGEST_CHAIN


def _shifting(template: Template) -> None:
    preferences = [
        facts["DeploymentPreference"]
        for facts in _properties(template, "AWS::Serverless::Function")
        if "DeploymentPreference" in facts
    ]
    assert len(preferences) == len(ANSWERING)
    alarms = [found["Alarms"]["Fn::If"][1] for found in preferences]
    assert all({"Ref": "ServerErrorsAlarm"} in watched for watched in alarms)


def _readiness(template: Template) -> None:
    functions = _properties(template, "AWS::Serverless::Function")
    assert sum("ProvisionedConcurrencyConfig" in facts for facts in functions) == len(ANSWERING)


def _images(template: Template) -> None:
    for facts in _properties(template, "AWS::Serverless::Function"):
        assert "SnapStart" not in facts or facts["EphemeralStorage"]["Size"] <= SNAPSHOT_DISK_MB


def _network(template: Template) -> None:
    for facts in _properties(template, "AWS::Serverless::Function"):
        assert ("PRESAGE_LOADS" in facts["Environment"]["Variables"]) == (
            facts["Handler"] == "entry.app"
        )


def _recovery(template: Template) -> None:
    for facts in _properties(template, "AWS::DynamoDB::Table"):
        is_recovered = "api-keys" not in str(facts["TableName"])
        assert facts["PointInTimeRecoverySpecification"] == {
            "PointInTimeRecoveryEnabled": is_recovered
        }


def _expiry(template: Template) -> None:
    tables = _properties(template, "AWS::DynamoDB::Table")
    assert sum("TimeToLiveSpecification" in facts for facts in tables) >= 2


def _lifecycle(template: Template) -> None:
    [bucket] = _properties(template, "AWS::S3::Bucket")
    rules = bucket["LifecycleConfiguration"]["Rules"]
    assert {rule.get("Prefix") for rule in rules} == {*SHORT_LIVED, None}
    assert [r["NoncurrentVersionExpiration"] for r in rules if r["Id"] == "versions"]


def _encryption(template: Template) -> None:
    [bucket] = _properties(template, "AWS::S3::Bucket")
    assert bucket["BucketEncryption"]
    assert all(
        t["SSESpecification"]["SSEEnabled"] for t in _properties(template, "AWS::DynamoDB::Table")
    )
    assert all(q["SqsManagedSseEnabled"] for q in _properties(template, "AWS::SQS::Queue"))


def _tls(template: Template) -> None:
    [policy] = _properties(template, "AWS::S3::BucketPolicy")
    [statement] = policy["PolicyDocument"]["Statement"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def _retention(template: Template) -> None:
    assert all(g["RetentionInDays"] for g in _properties(template, "AWS::Logs::LogGroup"))


def _kept_data(template: Template) -> None:
    kinds = ("AWS::DynamoDB::Table", "AWS::S3::Bucket")
    for resource in (r for kind in kinds for r in _of(template, kind)):
        assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
        assert resource["UpdateReplacePolicy"] == "Retain"


def _alarms(template: Template) -> None:
    assert all(a["AlarmActions"] for a in _properties(template, "AWS::CloudWatch::Alarm"))
    assert _of(template, "AWS::CloudWatch::Dashboard")


def _domain(template: Template) -> None:
    [mapping] = _properties(template, "AWS::ApiGateway::BasePathMapping")
    assert "BasePath" not in mapping


def _head_answers(template: Template) -> None:
    paths = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    gets = {path for path, methods in paths.items() if "get" in methods}
    assert gets == {path for path, methods in paths.items() if "head" in methods}


UNPROVED: dict[str, Callable[[Template], None]] = {
    "10 MB a request, refused by the gateway": _large_bodies,
    "6 MB an event or answer of a function": _large_events,
    "the header WWW-Authenticate, which arrives as x-amzn-Remapped-WWW-Authenticate": (
        _renamed_challenge
    ),
    "29 seconds a call": _slow_answers,
    "throttling of the stage and of its methods": _throttling,
    "the web ACL that limits calls by address": _web_acl,
    "the Content-Length of an answer to HEAD, whose body is empty": _head_answers,
    "lines of the access log": _access_log,
    "memory, processors and disk of a function": _memory_and_disk,
    "how many of a queue's function run at once": _concurrency,
    "chains of messages, which Lambda stops after 16 runs unless a function allows them": _chains,
    "receives of a job whose account is at its limit, which waits by few new messages": _waiting,
    "calls that move to a new version step by step, and back at an alarm": _shifting,
    "processes that are kept ready": _readiness,
    "starts from an image of a function's memory": _images,
    "the time that model files take from the bucket of a region": _network,
    "point-in-time recovery": _recovery,
    "rows that expire": _expiry,
    "objects that expire": _lifecycle,
    "encryption at rest": _encryption,
    "TLS alone at the bucket": _tls,
    "retention of logs": _retention,
    "tables and bucket, kept when their stack would go": _kept_data,
    "alarms and dashboard": _alarms,
    "the custom domain": _domain,
}
"""By name; what `python -m infra.local --gateway-limits` enforces is tested there."""
