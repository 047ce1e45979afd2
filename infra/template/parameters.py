"""The parameters of a deployment, and the conditions that depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.config import MOST_KEPT_VERSIONS
from infra.template.budget import BUDGET, budget_condition
from infra.template.functions import ANSWERING, FUNCTIONS, Function
from infra.template.names import HAS_TRACING, SECRET_ARN, Part, ref
from infra.template.throttles import throttle_conditions, throttle_parameters

# Smallest concurrency that Lambda accepts for a queue's function.
LEAST_AT_ONCE = 2
# Largest memory of a function in a new account, in MB.
SMALL_MEMORY_MB = 3_008
# Functions that can have reserved concurrency.
RESERVABLE = (*ANSWERING, "train_paid", "train_free")


def most_id(function: Function) -> str:
    """Return the name of the parameter for a queue function's concurrency."""
    return f"{function.logical}AtOnce"


def memory_id(function: Function) -> str:
    """Return the name of the parameter for a function's memory."""
    return f"{function.logical}Memory"


def loads_id(function: Function) -> str:
    """Return the name of the parameter for the models that a function loads at its start."""
    return f"{function.logical}Loads"


def size(name: str) -> dict[str, str]:
    """Return the parameters of a preset: `standard`, or `small` for a new AWS account.

    Raises:
        KeyError: there is no such preset.
    """
    largest, most = {"standard": (10_240, 1_000), "small": (SMALL_MEMORY_MB, LEAST_AT_ONCE)}[name]
    chosen = {memory_id(f): str(min(f.memory_mb, largest)) for f in FUNCTIONS}
    return chosen | {most_id(f): str(min(f.most_at_once, most)) for f in FUNCTIONS if f.queue}


def reserved_id(function: Function) -> str:
    """Return the name of the parameter for a function's reserved concurrency."""
    return f"{function.logical}Reserved"


def reserved(parameters: Mapping[str, str]) -> int:
    """Return the total reserved concurrency."""
    names = [reserved_id(function) for function in FUNCTIONS if function.name in RESERVABLE]
    return sum(int(parameters.get(name) or 0) for name in names)


def has_reserved_id(function: Function) -> str:
    """Return the name of the condition that is true if a function has reserved concurrency."""
    return f"Has{reserved_id(function)}"


def data_parameters() -> Part:
    """Return the parameters of the data's stack."""
    return {
        **_name(),
        **_origins(),
    }


def has_origins() -> Part:
    """Return the condition that is true if web pages of other origins may call the API."""
    return {"HasOrigins": {"Fn::Not": [{"Fn::Equals": [_joined("AllowedOrigins"), ""]}]}}


def parameters() -> Part:
    """Return the parameters of the service's stack."""
    return {
        **_name(),
        SECRET_ARN: {
            "Type": "String",
            "Description": "ARN of the key that signs tokens; the deployment sets it.",
            "AllowedPattern": "^arn:.+$",
        },
        "ModelCatalogue": _text(
            "Key of the catalogue of model files in the bucket; the deployment sets it.", ""
        ),
        "AudienceHosts": _text(
            "Further host names for the audience of an assertion, separated by commas.", ""
        ),
        "Domain": _text("Host name that the API is mapped to; empty for none.", ""),
        "CertificateArn": _text(
            "ARN of the domain's certificate in ACM, in the same region.",
            "",
            AllowedPattern="^(arn:.+)?$",
        ),
        **_origins(),
        **_receivers(),
        "LogLevel": _text(
            "Lowest log level.",
            "INFO",
            AllowedValues=["DEBUG", "INFO", "WARNING", "ERROR"],
        ),
        "Metrics": _text(
            "Whether log lines have metrics for CloudWatch, which charges for each metric.",
            "emf",
            AllowedValues=["emf", "off"],
        ),
        "Tracing": _text(
            "Whether AWS X-Ray traces calls and jobs, which AWS charges for.",
            "PassThrough",
            AllowedValues=["Active", "PassThrough"],
        ),
        **_limits(),
        "SetGatewayLogRole": _text(
            "Whether to set the role by which API Gateway logs, for the whole account and region.",
            "true",
            AllowedValues=["true", "false"],
        ),
        **_concurrency(),
    }


def conditions() -> Part:
    """Return the conditions of the service's stack."""
    found: Part = {
        **has_origins(),
        "HasDomain": _is_given("Domain"),
        "HasAlarmEmail": _is_given("AlarmEmail"),
        "HasAlarmTopic": _is_given("AlarmTopicArn"),
        **budget_condition(),
        **throttle_conditions(),
        HAS_TRACING: {"Fn::Equals": [ref("Tracing"), "Active"]},
        "SetsGatewayRole": {"Fn::Equals": [ref("SetGatewayLogRole"), "true"]},
    }
    for function in FUNCTIONS:
        if function.name in RESERVABLE:
            found[has_reserved_id(function)] = {
                "Fn::Not": [{"Fn::Equals": [ref(reserved_id(function)), 0]}]
            }
    return found


def _name() -> Part:
    """Return the parameter `Name`, the prefix of the names of all resources."""
    return {
        "Name": _text(
            "Prefix of every name; one account and region may hold several stages.",
            "presage",
            AllowedPattern="^[a-z][a-z0-9-]{1,23}$",
            ConstraintDescription="2 to 24 lower-case letters, digits and hyphens",
        )
    }


def _origins() -> Part:
    """Return the parameter, used by both stacks, for the origins that API and bucket allow."""
    return {
        "AllowedOrigins": {
            "Type": "CommaDelimitedList",
            "Description": "Origins of web pages that may call, such as https://shop.example, "
            "separated by commas; empty for none.",
            "Default": "",
        }
    }


def _receivers() -> Part:
    """Return the parameters of the receivers of alarms and cost warnings."""
    return {
        "AlarmEmail": _text("E-mail address that alarms are sent to; empty for none.", ""),
        "AlarmTopicArn": _text("ARN of your topic that alarms are sent to; empty for none.", ""),
        BUDGET: _number(
            "Monthly budget of the whole account in US dollars; above it, the receivers of alarms "
            "are notified; 0 for none.",
            50,
            MinValue=0,
        ),
    }


def _limits() -> Part:
    """Return the parameters of the API's limits and of the retention of logs."""
    return {
        "LogDays": _number(
            "Days for which logs are stored.", 30, AllowedValues=[7, 14, 30, 90, 365]
        ),
        "RequestsPerSecond": _number(
            "Steady rate of the API, in requests per second.", 200, MinValue=1
        ),
        "RequestBurst": _number("Burst of the API, in requests.", 400, MinValue=1),
        **throttle_parameters(),
        "KeptVersions": _number(
            "Versions of a model that are kept, besides those in use.",
            10,
            MinValue=1,
            MaxValue=MOST_KEPT_VERSIONS,
        ),
        "SlowMilliseconds": _number(
            "99th percentile of the latency in milliseconds that raises an alarm.", 10_000
        ),
    }


def _concurrency() -> Part:
    """Return the parameters of memory, loaded models and concurrency of functions."""
    found: Part = {}
    for function in FUNCTIONS:
        found[memory_id(function)] = _number(
            f"Memory of {function.short} in MB; 1,769 MB are one processor.",
            function.memory_mb,
            MinValue=512,
            MaxValue=10_240,
        )
        if function.name in ANSWERING:
            found[loads_id(function)] = _text(
                f"Parts of engines that {function.short} loads at its start, in order, separated "
                "by commas; others are loaded by the first call that needs them.",
                ",".join(function.loads),
            )
        if function.queue:
            found[most_id(function)] = _number(
                f"Largest number of {function.short} that run at once.",
                function.most_at_once,
                MinValue=LEAST_AT_ONCE,
                MaxValue=1_000,
            )
        if function.name in RESERVABLE:
            found[reserved_id(function)] = _number(
                f"Reserved concurrency of {function.short}; 0 for none.", 0, MinValue=0
            )
    return found


def _text(description: str, default: str, **more: Any) -> Part:
    return {"Type": "String", "Description": description, "Default": default, **more}


def _number(description: str, default: int, **more: Any) -> Part:
    return {"Type": "Number", "Description": description, "Default": default, **more}


def _is_given(name: str) -> Part:
    """Return the condition that is true if a parameter is not empty."""
    return {"Fn::Not": [{"Fn::Equals": [ref(name), ""]}]}


def _joined(name: str) -> Part:
    return {"Fn::Join": ["", ref(name)]}
