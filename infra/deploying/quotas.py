"""Checks the templates, with the parameters of a deployment, against quotas of AWS.

Without this check, CloudFormation would fail half-way. The figures come from the AWS documentation
of 2026-11-28. Only one of these quotas can be raised on request: the number of resources of an API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.deploying.account import DeployError

Template = Mapping[str, Any]
# Pages with the quotas.
PAGES = (
    "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html",
    "https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html",
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html",
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html",
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html",
)
# The longest possible values of pseudo parameters, which the template does not know.
_PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Region": "ap-southeast-2",
    "AWS::Partition": "aws-us-gov",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::NoValue": "",
}
# Placeholder for names and ARNs that AWS makes.
_UNKNOWN = "x" * 120
_VARIABLE = re.compile(r"\$\{([^}]+)\}")


@dataclass(frozen=True)
class Quota:
    """An AWS limit on the size or number of one kind of item in the templates."""

    noun: str
    """Name of the measured item in error messages."""
    limit: int
    """The limit that AWS sets."""
    measure: Callable[[Template], Iterator[tuple[str, int]]]
    """Yields the logical name and the size of each measured item."""
    remedy: str = "report this as a defect of the template"
    """Advice for the user."""


def check_quotas(templates: Mapping[str, Template], parameters: Mapping[str, str]) -> None:
    """Check the templates, with their parameters, against every quota.

    Args:
        templates: templates by file name.
        parameters: parameters of the deployment, including defaults.

    Raises:
        DeployError: a quota is exceeded; the message names the resource, the quota and the remedy.
    """
    for quota, resource, size in sizes(templates, parameters):
        if size > quota.limit:
            raise DeployError(
                f"{quota.noun} of {resource}: {size}, and AWS allows {quota.limit}: {quota.remedy}"
            )


def sizes(
    templates: Mapping[str, Template], parameters: Mapping[str, str]
) -> Iterator[tuple[Quota, str, int]]:
    """Yield (quota, resource, size of the resource) for each resource to which a quota applies."""
    for name, template in templates.items():
        filled = {**template, "Resources": _filled(template["Resources"], parameters)}
        for quota in QUOTAS:
            for resource, size in quota.measure(filled):
                yield quota, resource or name, size


def _filled(value: Any, parameters: Mapping[str, str]) -> Any:
    """Replace references by their values; unknown values become texts of maximum length."""
    if isinstance(value, list):
        return [_filled(member, parameters) for member in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        [(name, given)] = value.items()
        if name in _INTRINSIC:
            return _INTRINSIC[name](given, parameters)
    return {name: _filled(member, parameters) for name, member in value.items()}


def _substituted(value: Any, parameters: Mapping[str, str]) -> str:
    text = value if isinstance(value, str) else value[0]
    return _VARIABLE.sub(lambda found: _named(found[1], parameters), text)


def _joined(value: Any, parameters: Mapping[str, str]) -> str:
    members = _filled(value[1], parameters)
    # If a list is a parameter, its one text is filled in, commas included.
    return members if isinstance(members, str) else value[0].join(map(str, members))


def _larger(values: Any, parameters: Mapping[str, str]) -> Any:
    return max((_filled(part, parameters) for part in values[1:]), key=_length)


def _named(name: str, parameters: Mapping[str, str]) -> str:
    return parameters.get(name, _PSEUDO.get(name, _UNKNOWN))


_INTRINSIC: Mapping[str, Callable[[Any, Mapping[str, str]], Any]] = {
    "Ref": _named,
    "Fn::Sub": _substituted,
    "Fn::GetAtt": lambda given, parameters: _UNKNOWN,
    "Fn::Join": _joined,
    "Fn::If": _larger,
}


def _length(value: Any) -> int:
    """Return the size of a value as JSON without white space, in characters."""
    return len(json.dumps(value, separators=(",", ":")))


def _of(template: Template, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, properties) of each resource of the type `kind`."""
    for name, resource in template["Resources"].items():
        if resource["Type"] == kind:
            yield name, resource.get("Properties", {})


def _environment(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::Serverless::Function"):
        variables = facts.get("Environment", {}).get("Variables", {})
        yield name, sum(len(n.encode()) + len(str(v).encode()) for n, v in variables.items())


def _role_policies(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::IAM::Role"):
        policies = facts.get("Policies", ())
        yield name, sum(_length(policy["PolicyDocument"]) for policy in policies)


def _queue_policies(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::SQS::QueuePolicy"):
        yield name, _length(facts["PolicyDocument"])


def _function_policies(template: Template) -> Iterator[tuple[str, int]]:
    """Yield (name, size) of each permission, which AWS adds to its function's policy."""
    for name, facts in _of(template, "AWS::Lambda::Permission"):
        yield name, _length(facts)


def _paths(template: Template) -> Iterator[tuple[str, int]]:
    """Yield (API, number of its resources). Resources are the root and all prefixes of paths."""
    for name, facts in _of(template, "AWS::Serverless::Api"):
        parts = [path.strip("/").split("/") for path in facts["DefinitionBody"]["paths"]]
        yield name, len({tuple(p[:end]) for p in parts for end in range(len(p) + 1)} | {()})


def _definition(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::Serverless::Api"):
        yield name, _length(facts["DefinitionBody"])


def _access_log(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::Serverless::Api"):
        yield name, len(facts.get("AccessLogSetting", {}).get("Format", ""))


def _alarm_actions(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::CloudWatch::Alarm"):
        yield name, len(facts.get("AlarmActions", ()))


def _dashboard_metrics(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::CloudWatch::Dashboard"):
        body = json.loads(facts["DashboardBody"])
        yield name, sum(len(w["properties"].get("metrics", ())) for w in body["widgets"])


def _mappings(template: Template) -> Iterator[tuple[str, int]]:
    """Yield each function with a queue, and how many runs the queue may start at once."""
    for name, facts in _of(template, "AWS::Serverless::Function"):
        for event in facts.get("Events", {}).values():
            if scaling := event["Properties"].get("ScalingConfig"):
                yield name, int(scaling["MaximumConcurrency"])


def _log_groups(template: Template) -> Iterator[tuple[str, int]]:
    for name, facts in _of(template, "AWS::Logs::LogGroup"):
        yield name, len(facts.get("LogGroupName", ""))


def _resources(template: Template) -> Iterator[tuple[str, int]]:
    # SAM adds versions, aliases, event source mappings and deployments to each function.
    added = 8 * sum(1 for _ in _of(template, "AWS::Serverless::Function"))
    yield "", len(template["Resources"]) + added


def _parameters(template: Template) -> Iterator[tuple[str, int]]:
    yield "", len(template.get("Parameters", {}))


def _size(template: Template) -> Iterator[tuple[str, int]]:
    yield "", _length(template)


QUOTAS = (
    Quota(
        "bytes of environment variables",
        4_096,
        _environment,
        "shorten AllowedOrigins or AudienceHosts",
    ),
    Quota("characters of inline policies", 10_240, _role_policies),
    Quota("characters of the queue policy", 8_192, _queue_policies),
    Quota("bytes of the resource policy", 20_480, _function_policies),
    Quota("paths and their beginnings", 300, _paths),
    Quota("bytes of the API's definition", 2 * 1024 * 1024, _definition),
    Quota("bytes of the access log's format", 3 * 1024, _access_log),
    Quota("actions of an alarm", 5, _alarm_actions),
    Quota("metrics of a dashboard", 2_500, _dashboard_metrics),
    Quota("characters of the log group's name", 512, _log_groups),
    Quota("concurrency of an event source mapping", 1_000, _mappings, "lower …AtOnce"),
    Quota("resources", 500, _resources),
    Quota("parameters", 200, _parameters),
    Quota("bytes of the template", 1_000_000, _size),
)
