"""Combines everything that is merged into Chalice's template of the service's stack.

Chalice merges objects member by member, and replaces other values. Members of Chalice's template
stay. So the reference `{"Fn::Sub": ...}` can be replaced only by another `Fn::Sub`. With `{"Ref":
...}`, the merged object would have both members, which is not valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.stores.jobs.queues import INCOMING
from infra.template.alarms import alarms
from infra.template.budget import budget
from infra.template.dashboard import dashboard
from infra.template.functions import (
    ADDED,
    ANSWERING,
    BY_QUEUE,
    FUNCTION_TYPE,
    FUNCTIONS,
    Function,
)
from infra.template.gateway import API, domain, outputs, permissions, rest_api
from infra.template.logs import log_group_id, logs
from infra.template.names import SECRET_ARN, SETTINGS, Part, attribute, queue_arn, ref, sub
from infra.template.parameters import (
    RESERVABLE,
    conditions,
    has_reserved_id,
    loads_id,
    memory_id,
    most_id,
    parameters,
    reserved_id,
)
from infra.template.queues import queues
from infra.template.rights import role_id, roles
from infra.template.throttles import web_acl
from infra.template.versions import version_conditions, version_parameters, versions

# Folder in which functions store the model files that they download.
MODEL_DIR = "/tmp/models"  # noqa: S108 - a function's own disk


def merge_template() -> Part:
    """Return the template that is merged into Chalice's template."""
    # Each version has the function's deletion policy. The previous version is deleted when it is no
    # longer called.
    functions: Part = {
        f.logical: {"DeletionPolicy": "Delete", "Properties": {**_function(f), **versions(f)}}
        for f in FUNCTIONS
    }
    for added in ADDED:
        functions[added.logical] |= {"Type": FUNCTION_TYPE}
        functions[added.logical]["Properties"] |= {"CodeUri": "./deployment.zip"}
    return {
        "Description": "Presage: predictions for texts and images.",
        "Parameters": {**parameters(), **version_parameters()},
        "Conditions": {**conditions(), **version_conditions()},
        "Resources": {
            **queues(set(BY_QUEUE) - {INCOMING}),
            **logs(),
            **roles(),
            **alarms(),
            **dashboard(),
            **budget(),
            **domain(),
            **functions,
            **permissions(),
            **web_acl(API),
            API: rest_api(),
        },
        "Outputs": {
            **outputs(),
            "BucketName": {"Value": sub(SETTINGS.bucket)},
            SECRET_ARN: {"Value": ref(SECRET_ARN)},
        },
    }


def merged(first: Any, second: Any) -> Any:
    """Merge two templates as Chalice does; values of the template `first` have priority."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        both = {
            name: merged(value, second[name]) for name, value in first.items() if name in second
        }
        return {**second, **first, **both}
    return first


def _function(function: Function) -> Part:
    properties: Part = {
        "FunctionName": sub(f"${{Name}}-{function.short}"),
        "Role": attribute(role_id(function)),
        "MemorySize": ref(memory_id(function)),
        "Timeout": function.timeout_seconds,
        "EphemeralStorage": {"Size": function.disk_mb},
        "Tracing": ref("Tracing"),
        "LoggingConfig": {"LogGroup": ref(log_group_id(function))},
        "Environment": {"Variables": {**_environment(), **function.environment}},
    }
    if function.name in ANSWERING:
        properties["Handler"] = "entry.app"
        properties["Environment"]["Variables"]["PRESAGE_LOADS"] = ref(loads_id(function))
    if function.chains:
        # Lambda stops a function after about 16 invocations by its own messages, and a large batch
        # has thousands of parts.
        properties["RecursiveLoop"] = "Allow"
    if function.queue:
        properties["Events"] = {
            function.event: {
                "Properties": {
                    "Queue": queue_arn(function.queue),
                    "ScalingConfig": {"MaximumConcurrency": ref(most_id(function))},
                }
            }
        }
    if function.name in RESERVABLE:
        reserved = {"Fn::If": [has_reserved_id(function), ref(reserved_id(function)), _NONE]}
        properties["ReservedConcurrentExecutions"] = reserved
    return properties


_NONE = {"Ref": "AWS::NoValue"}


def _environment() -> Part:
    """Return the environment variables of every function. See chalicelib/config.py."""
    return {
        "PRESAGE_NAME": ref("Name"),
        "PRESAGE_BUCKET": sub(SETTINGS.bucket),
        "PRESAGE_TOKEN_SECRET_NAME": ref(SECRET_ARN),
        "PRESAGE_AUDIENCE_HOSTS": {
            "Fn::Join": [",", [ref("Domain"), ref("AudienceHosts")]],
        },
        "PRESAGE_ALLOW_ORIGINS": {"Fn::Join": [",", ref("AllowedOrigins")]},
        "PRESAGE_MODEL_DIR": MODEL_DIR,
        "PRESAGE_MODELS_FROM_BUCKET": ref("ModelCatalogue"),
        "PRESAGE_KEPT_VERSIONS": ref("KeptVersions"),
        "PRESAGE_LOG_LEVEL": ref("LogLevel"),
        # Lambda reads metrics from these log lines.
        "PRESAGE_LOG_STREAM": "stdout",
        "PRESAGE_METRICS": ref("Metrics"),
        # PRESAGE_THREADS sets the threads, so arithmetic libraries get one each.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
