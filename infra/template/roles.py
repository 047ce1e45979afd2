"""A role for each function, with the rights of infra/template/rights.py and nothing else."""

from __future__ import annotations

from infra.template.functions import FUNCTIONS, Function
from infra.template.logs import log_group_id
from infra.template.names import BUCKET, SECRET, Part, attribute, queue_id, ref, sub, table_id
from infra.template.rights import FUNCTION_RIGHTS, RECEIVE, SERVICES

_VERSION = "2012-10-17"


def role_id(function: Function) -> str:
    """Logical name of a function's role."""
    return f"{function.logical}Role"


def roles() -> Part:
    """Return the roles."""
    return {role_id(function): _role(function) for function in FUNCTIONS}


def trust(service: str) -> Part:
    """Let a service of AWS take a role."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": _VERSION, "Statement": [statement]}


def statements(function: Function) -> list[Part]:
    """Return what a function may do, a statement for each resource."""
    found = [
        _statement(resource, actions)
        for resource, actions in FUNCTION_RIGHTS[function.name].items()
    ]
    if function.queue:
        found.append(_statement(f"queue/{function.queue}", RECEIVE))
    logs = {
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": attribute(log_group_id(function)),
    }
    return [*found, logs]


def _statement(resource: str, actions: tuple[str, ...]) -> Part:
    """Allow some actions on a resource."""
    service = SERVICES[resource.partition("/")[0]]
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions],
        "Resource": _arn(resource),
    }


def _arn(resource: str) -> Part:
    """Return the ARN of a resource as the rights name it."""
    kind, _, name = resource.partition("/")
    if kind == "table":
        table, _, index = name.partition("/")
        return sub(f"${{{table_id(table)}.Arn}}/{index}") if index else attribute(table_id(table))
    if kind == "queue":
        return attribute(queue_id(name))
    if kind == "objects":
        return sub(f"${{{BUCKET}.Arn}}/{name}/*")
    return ref(SECRET) if kind == "secret" else attribute(BUCKET)


def _role(function: Function) -> Part:
    """Describe a function's role."""
    policy = {
        "PolicyName": "exactly-what-it-does",
        "PolicyDocument": {"Version": _VERSION, "Statement": statements(function)},
    }
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": trust("lambda.amazonaws.com"),
            "Policies": [policy],
        },
    }
