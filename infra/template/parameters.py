"""What may be chosen at each deployment, and what follows from it."""

from __future__ import annotations

from typing import Any

from infra.template.functions import FUNCTIONS, Function
from infra.template.names import Part, ref

RESERVABLE = ("api_handler", "train_paid", "train_free")
"""Functions for which some of the account's concurrency can be set aside."""


def most_id(function: Function) -> str:
    """Name of the parameter that limits how many of a queue's function run at once."""
    return f"{function.logical}AtOnce"


def reserved_id(function: Function) -> str:
    """Name of the parameter that sets concurrency aside for a function."""
    return f"{function.logical}Reserved"


def has_reserved_id(function: Function) -> str:
    """Name of the condition that some is set aside."""
    return f"Has{reserved_id(function)}"


def parameters() -> Part:
    """Return the parameters."""
    return {
        "Name": _text(
            "Prefix of every name; one account and region may hold several stacks.",
            "presage",
            AllowedPattern="^[a-z][a-z0-9-]{1,23}$",
            ConstraintDescription="2 to 24 lower-case letters, digits and hyphens",
        ),
        "ModelCatalogue": _text(
            "Key of the catalogue of model files in the bucket; the deployment sets it.", ""
        ),
        "AudienceHosts": _text(
            "Further host names that the audience of an assertion may have, by commas.", ""
        ),
        "Domain": _text("Host name that the API is mapped to; empty for none.", ""),
        "CertificateArn": _text(
            "ARN of the domain's certificate in ACM, in the same region.",
            "",
            AllowedPattern="^(arn:.+)?$",
        ),
        "AllowedOrigins": {
            "Type": "CommaDelimitedList",
            "Description": "Origins of web pages that send presigned forms; empty for none.",
            "Default": "",
        },
        "AlarmEmail": _text("E-mail address that alarms are sent to; empty for none.", ""),
        "AlarmTopicArn": _text("ARN of a topic of yours that alarms are sent to.", ""),
        "LogLevel": _text(
            "Lowest level that is logged.",
            "INFO",
            AllowedValues=["DEBUG", "INFO", "WARNING", "ERROR"],
        ),
        "Metrics": _text(
            "Whether log lines carry metrics for CloudWatch, which are charged for by the metric.",
            "emf",
            AllowedValues=["emf", "off"],
        ),
        "LogDays": _number("Days that logs are kept.", 30, AllowedValues=[7, 14, 30, 90, 365]),
        "RequestsPerSecond": _number("Steady rate that the API admits.", 200, MinValue=1),
        "RequestBurst": _number("Burst that the API admits.", 400, MinValue=1),
        "SlowMilliseconds": _number("99th percentile of the latency that alarms.", 10_000),
        "SetGatewayLogRole": _text(
            "Whether to set the role by which API Gateway logs, for the whole account and region.",
            "true",
            AllowedValues=["true", "false"],
        ),
        **_concurrency(),
    }


def conditions() -> Part:
    """Return the conditions."""
    found: Part = {
        "HasDomain": _is_given("Domain"),
        "HasOrigins": {"Fn::Not": [{"Fn::Equals": [_joined("AllowedOrigins"), ""]}]},
        "HasAlarmEmail": _is_given("AlarmEmail"),
        "HasAlarmTopic": _is_given("AlarmTopicArn"),
        "SetsGatewayRole": {"Fn::Equals": [ref("SetGatewayLogRole"), "true"]},
    }
    for function in FUNCTIONS:
        if function.name in RESERVABLE:
            found[has_reserved_id(function)] = {
                "Fn::Not": [{"Fn::Equals": [ref(reserved_id(function)), 0]}]
            }
    return found


def _concurrency() -> Part:
    """Return the parameters of how much runs at once."""
    found: Part = {}
    for function in FUNCTIONS:
        if function.queue:
            found[most_id(function)] = _number(
                f"How many of {function.short} run at once.",
                function.most_at_once,
                MinValue=2,
                MaxValue=1_000,
            )
        if function.name in RESERVABLE:
            found[reserved_id(function)] = _number(
                f"Concurrency set aside for {function.short} alone; 0 for none.", 0, MinValue=0
            )
    return found


def _text(description: str, default: str, **more: Any) -> Part:
    """Describe a parameter that is a text."""
    return {"Type": "String", "Description": description, "Default": default, **more}


def _number(description: str, default: int, **more: Any) -> Part:
    """Describe a parameter that is a number."""
    return {"Type": "Number", "Description": description, "Default": default, **more}


def _is_given(name: str) -> Part:
    """Tell whether a parameter is not empty."""
    return {"Fn::Not": [{"Fn::Equals": [ref(name), ""]}]}


def _joined(name: str) -> Part:
    """Make one text of a list."""
    return {"Fn::Join": ["", ref(name)]}
