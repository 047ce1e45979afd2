"""Checks account and region before anything is created, so that no deployment fails half-way."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from infra.deploying.account import DeployError, Target
from infra.deploying.deployer_policy import CHECKED
from infra.deploying.removal import existing_names
from infra.deploying.stack import Stack
from infra.template.functions import BY_QUEUE, FUNCTIONS
from infra.template.parameters import (
    LEAST_AT_ONCE,
    RESERVABLE,
    SMALL_MEMORY_MB,
    memory_id,
    most_id,
    reserved,
    reserved_id,
)

# Concurrent executions that AWS gives an account by default; new accounts have fewer, and less
# memory per function.
FULL_CONCURRENCY = 1_000
# Concurrent executions that must remain for calls when all workers run.
ROOM_FOR_CALLS = 10
# Concurrency that AWS does not let accounts reserve.
ALWAYS_UNRESERVED = 100
# Seconds until the name of a deleted queue can be used again; AWS says 60.
QUEUE_SECONDS = 65.0
_NOT_ENABLED = ("InvalidClientTokenId", "OptInRequired", "UnrecognizedClientException")
_RAISE = "ask AWS for more (Service Quotas, Lambda, concurrent executions)"
# A small call to each required service; services that the deployment calls anyway are left out.
_PROBES: Mapping[str, Callable[[Any], object]] = {
    "apigateway": lambda client: client.get_account(),
    "cloudwatch": lambda client: client.describe_alarms(MaxRecords=1),
    "dynamodb": lambda client: client.list_tables(Limit=1),
    "events": lambda client: client.list_rules(Limit=1),
    "lambda": lambda client: client.list_functions(MaxItems=1),
    "logs": lambda client: client.describe_log_groups(limit=1),
    "secretsmanager": lambda client: client.list_secrets(MaxResults=1),
    "sns": lambda client: client.list_topics(),
    "sqs": lambda client: client.list_queues(MaxResults=1),
}


@dataclass(frozen=True)
class AccountLimits:
    """The Lambda limits of an account."""

    concurrency: int
    """Number of functions that may run at the same time in the account."""
    unreserved: int
    """Part of `concurrency` that is not reserved for certain functions."""


def read_limits(target: Target) -> AccountLimits:
    """Read the Lambda limits of the account."""
    found = target.client("lambda").get_account_settings()["AccountLimit"]
    return AccountLimits(
        int(found["ConcurrentExecutions"]), int(found["UnreservedConcurrentExecutions"])
    )


def check_account(
    target: Target, parameters: Mapping[str, str], named: Collection[str], before: int
) -> list[str]:
    """Check services, rights and limits of an account; return warnings.

    Args:
        target: where the stage is deployed.
        parameters: parameters of the deployment, including defaults.
        named: names of the parameters that the user set with the option `SET`.
        before: concurrency that is already reserved for the stage.

    Raises:
        DeployError: the deployment would fail; the message has the remedy.
    """
    check_services(target)
    if target.endpoint_url is not None:
        return []  # An emulated AWS has neither limits nor rights.
    said = []
    denied = denied_actions(target)
    if denied is None:
        said.append("the rights of these credentials cannot be asked for, so they were not checked")
    elif denied:
        raise DeployError(
            f"the credentials may not call {', '.join(denied)}: docs/deployer.md has the policy "
            "that a deployment needs"
        )
    return [*said, *check_limits(read_limits(target), parameters, named, before)]


def check_services(target: Target) -> None:
    """Raise DeployError if a required service does not answer in the region."""
    for service, probe in _PROBES.items():
        try:
            probe(target.client(service))
        except ClientError as error:
            # An error answer shows that the service exists; rights are checked separately.
            if error.response["Error"]["Code"] in _NOT_ENABLED:
                raise DeployError(_no_service(service, target)) from error
        except BotoCoreError as error:
            raise DeployError(f"{_no_service(service, target)}: {error}") from error


def _no_service(service: str, target: Target) -> str:
    return (
        f"{service} does not answer in {target.region_name}: choose a region that has it, and look "
        "whether the region is enabled for the account and reachable from here"
    )


def denied_actions(target: Target) -> Collection[str] | None:
    """Return the required rights that the caller lacks; None if they cannot be checked."""
    arn = str(target.client("sts").get_caller_identity()["Arn"])
    if arn.endswith(":root"):
        return []
    iam = target.client("iam")
    names = {
        "account": target.account_id,
        "region": target.region_name,
        "here": f"{target.region_name}:{target.account_id}",
        "stack": target.stack,
    }
    passed = {
        "ContextKeyName": "iam:PassedToService",
        "ContextKeyType": "string",
        "ContextKeyValues": ["lambda.amazonaws.com"],
    }
    denied = []
    try:
        if ":assumed-role/" in arn:
            arn = str(iam.get_role(RoleName=arn.split("/")[1])["Role"]["Arn"])
        for action, resource in CHECKED.items():
            found = iam.simulate_principal_policy(
                PolicySourceArn=arn,
                ActionNames=[action],
                ResourceArns=[resource.format(**names)],
                ContextEntries=[passed],
            )
            # Conditions that the policy sets on the call itself, such as a second factor, are
            # unknown here.
            results = [r for r in found["EvaluationResults"] if not r.get("MissingContextValues")]
            if any(r["EvalDecision"] != "allowed" for r in results):
                denied.append(action)
    except ClientError:
        return None
    return denied


def check_limits(
    limits: AccountLimits,
    parameters: Mapping[str, str],
    named: Collection[str],
    before: int,
) -> list[str]:
    """Compare the stage's parameters with the limits of the account; return warnings.

    Args:
        limits: limits of the account.
        parameters: parameters of the deployment, including defaults.
        named: names of the parameters that the user set with the option `SET`.
        before: concurrency that is already reserved for the stage.

    Raises:
        DeployError: a limit is exceeded; the message has the remedy.
    """
    _check_reserved(limits, parameters, before)
    if limits.concurrency < FULL_CONCURRENCY:
        _check_memory(parameters, named)
    at_once = [int(parameters.get(most_id(function)) or 0) for function in BY_QUEUE.values()]
    needed = sum(at_once) + ROOM_FOR_CALLS
    if limits.concurrency >= needed:
        return []
    has = f"the account runs at most {limits.concurrency} functions at once"
    if max(at_once) > LEAST_AT_ONCE:
        raise DeployError(
            f"{has}, and the stage may ask for {needed}: pass SIZE=small, or {_RAISE}"
        )
    return [
        f"{has}: with many calls at once, jobs wait and are retried. If that is too slow, {_RAISE}"
    ]


def _check_memory(parameters: Mapping[str, str], named: Collection[str]) -> None:
    """Refuse more memory than new accounts may use, unless the user set the parameter.

    AWS has no call that returns this limit. AWS raises it together with the concurrency.
    """
    large = [
        name
        for name in map(memory_id, FUNCTIONS)
        if name not in named and int(parameters.get(name) or 0) > SMALL_MEMORY_MB
    ]
    if large:
        raise DeployError(
            f"functions of a young account have at most {SMALL_MEMORY_MB} MB, and {large[0]} is "
            f"{parameters[large[0]]}: pass SIZE=small; or {_RAISE}; or, if the account has more "
            f'memory, say so by SET="{large[0]}={parameters[large[0]]} …"'
        )


def _check_reserved(limits: AccountLimits, parameters: Mapping[str, str], before: int) -> None:
    """Refuse reserved concurrency below a function's maximum, or above the account's limit."""
    for function in (f for f in FUNCTIONS if f.name in RESERVABLE):
        aside = int(parameters.get(reserved_id(function)) or 0)
        most = int(parameters.get(most_id(function)) or 0)
        if 0 < aside < most:
            raise DeployError(
                f"{reserved_id(function)}={aside} is below {most_id(function)}={most}, so jobs "
                "would be refused: raise the one or lower the other"
            )
    wanted = reserved(parameters)
    free = limits.unreserved + before - ALWAYS_UNRESERVED
    if wanted > max(0, free):
        raise DeployError(
            f"{wanted} of the account's concurrency cannot be reserved: {max(0, free)} can, since "
            f"AWS keeps {ALWAYS_UNRESERVED} unreserved. Lower the parameters that end in "
            f"Reserved, or {_RAISE}"
        )


def wait_for_names(stacks: Iterable[Stack], target: Target, say: Callable[[str], None]) -> None:
    """Wait until queues of recently removed stacks can be created again.

    Args:
        stacks: stacks of a stage that have queues.
        target: target of the deployment.
        say: called with a line for the user.
    """
    if target.endpoint_url is not None:
        return
    times = [stack.deleted_at() for stack in stacks if not stack.status()]
    deleted = max((time for time in times if time), default=None)
    left = QUEUE_SECONDS - (datetime.now(UTC) - deleted).total_seconds() if deleted else 0.0
    if left > 0:
        say(f"waiting {left:.0f} s: AWS recreates a deleted queue only after a minute")
        time.sleep(left)


def check_unclaimed(target: Target) -> None:
    """Refuse to deploy if tables or a bucket exist, but the data's stack does not.

    Raises:
        DeployError: a table or the bucket exists, so CloudFormation could not create it.
    """
    found = existing_names(target)
    if found:
        raise DeployError(
            f"{found[0]} is there, but the stack {target.data_stack} is not: a version up to 0.2.0 "
            "deployed this stage as one stack. Nothing was changed. To migrate (docs/deploy.md), "
            "dump it by `python -m infra.backup dump`, remove it by "
            f"`make destroy STAGE={target.stage} DELETE_DATA=1`, deploy it and restore the dump"
        )
