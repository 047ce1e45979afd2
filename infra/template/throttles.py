"""Declares the gateway's throttles: a rate per method, and a rate per client address.

Without throttles, calls of one kind could use up the account's Lambda concurrency, and one caller
could use up the rate of the whole stage. The functions check the rates of accounts.
"""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain.accounts.rates import DOCUMENTS, PICTURES, TOKENS, UPLOADS
from chalicelib.routes import OPERATIONS
from infra.template.names import Part, attribute, ref, sub

# Parameters with the rate of each method by cost class, and their defaults in calls a second. A
# default is at least twice the rate of one account of the largest plan, so that one account cannot
# use up a method.
THROTTLES = {
    DOCUMENTS: ("DocumentsPerSecond", 30),
    PICTURES: ("ImagesPerSecond", 100),
    TOKENS: ("TokensPerSecond", 160),
    UPLOADS: ("UploadsPerSecond", 80),
}
# Parameter: calls of one address in five minutes, which is WAF's default period.
WEB_ACL = "WebAcl"
# Logical names of the web ACL and its association.
_LIMIT, _ASSOCIATION = "AddressLimit", "AddressLimitAssociation"
_HAS_WEB_ACL = "HasWebAcl"
# The token endpoint checks signatures for anyone, so its rate applies before an account is known.
_TOKEN_ENDPOINT = "create_token"  # noqa: S105 - the name of an operation


def throttle_parameters() -> Part:
    """Return the parameters of the throttles."""
    found: Part = {
        name: {
            "Type": "Number",
            "Description": f"Steady rate, and burst, of each method of {cost}, in requests per "
            "second.",
            "Default": default,
            "MinValue": 1,
        }
        for cost, (name, default) in THROTTLES.items()
    }
    found[WEB_ACL] = {
        "Type": "Number",
        "Description": "Requests of one address in five minutes above which AWS WAF refuses more, "
        "at a monthly price; at least 10, or 0 for no web ACL.",
        "Default": 0,
        "MinValue": 0,
    }
    return found


def throttle_conditions() -> Part:
    """Return the condition that is true if a web ACL is configured."""
    return {_HAS_WEB_ACL: {"Fn::Not": [{"Fn::Equals": [ref(WEB_ACL), 0]}]}}


def throttled_methods() -> Iterator[tuple[str, str, str]]:
    """Yield method, path and cost class of every route that has its own throttle."""
    for operation in OPERATIONS:
        cost = TOKENS if operation.name == _TOKEN_ENDPOINT else operation.cost
        if cost in THROTTLES:
            for _, path in operation.served_paths():
                for method in operation.methods:
                    yield method, path, cost


def method_settings() -> list[Part]:
    """Return the throttle settings of the stage's methods, the default settings first."""
    general = {
        "ResourcePath": "/*",
        "HttpMethod": "*",
        "ThrottlingRateLimit": ref("RequestsPerSecond"),
        "ThrottlingBurstLimit": ref("RequestBurst"),
        "MetricsEnabled": False,
        "DataTraceEnabled": False,
        "LoggingLevel": "OFF",
    }
    return [general, *(_method(*facts) for facts in throttled_methods())]


def _method(method: str, path: str, cost: str) -> Part:
    """Return the throttle of a method; slashes in its path are escaped for CloudFormation."""
    name, _ = THROTTLES[cost]
    return {
        "ResourcePath": "/" + path.replace("/", "~1"),
        "HttpMethod": method,
        "ThrottlingRateLimit": ref(name),
        "ThrottlingBurstLimit": ref(name),
    }


def web_acl(api: str) -> Part:
    """Return the web ACL. Its only rule limits the calls of each address.

    By default it is not used.

    Args:
        api: logical name of the REST API.
    """
    stage = {
        "Fn::Sub": [
            "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${Api}/stages/${Stage}",
            {"Api": ref(api), "Stage": ref(f"{api}.Stage")},
        ]
    }
    limit = {"AggregateKeyType": "IP", "Limit": ref(WEB_ACL)}
    rule = {
        "Name": "calls-by-address",
        "Priority": 0,
        "Action": {"Block": {}},
        "Statement": {"RateBasedStatement": limit},
        "VisibilityConfig": _visible("calls-by-address"),
    }
    return {
        _LIMIT: {
            "Type": "AWS::WAFv2::WebACL",
            "Condition": _HAS_WEB_ACL,
            "Properties": {
                "Name": sub("${Name}"),
                "Scope": "REGIONAL",
                "DefaultAction": {"Allow": {}},
                "Rules": [rule],
                "VisibilityConfig": _visible("web-acl"),
            },
        },
        _ASSOCIATION: {
            "Type": "AWS::WAFv2::WebACLAssociation",
            "Condition": _HAS_WEB_ACL,
            "Properties": {
                "ResourceArn": stage,
                "WebACLArn": attribute(_LIMIT),
            },
        },
    }


def _visible(name: str) -> Part:
    """Return the metric settings of a web ACL rule, without samples, which contain call headers."""
    return {
        "CloudWatchMetricsEnabled": True,
        "SampledRequestsEnabled": False,
        "MetricName": sub(f"${{Name}}-{name}"),
    }
