"""Finds concerns before a deployment, such as alarms without a receiver.

Each concern is reported, and has to be confirmed unless YES=1 is given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from infra.deploying.account import Target, is_there

# Parameter: whether the stack sets API Gateway's role for logs.
LOG_ROLE = "SetGatewayLogRole"
_RECEIVERS = ("AlarmEmail", "AlarmTopicArn")


@dataclass(frozen=True)
class Concern:
    """A warning before a deployment, which may have to be confirmed."""

    text: str
    """The reported text."""
    question: str = ""
    """The question to confirm; empty if there is none."""


def concerns(
    target: Target,
    names: Collection[str],
    values: Mapping[str, str],
    before: Mapping[str, str] | None,
) -> tuple[list[Concern], dict[str, str]]:
    """Return warnings, and parameters to add to the deployment because of the warnings.

    Args:
        target: where the stage is deployed.
        names: names of all parameters.
        values: parameters that the user sets.
        before: current parameters of the service; None before the first deployment.
    """
    found, added = list(_without_receivers(names, values, before)), dict[str, str]()
    if LOG_ROLE in names:
        more, added = _log_role(target, values.get(LOG_ROLE, ""), before)
        found += more
    return found, added


def unconfirmed(target: Target, topic: str) -> Iterator[str]:
    """Yield a line for each email address that has not confirmed its subscription to alarms."""
    pages = target.client("sns").get_paginator("list_subscriptions_by_topic")
    for page in pages.paginate(TopicArn=topic):
        for entry in page["Subscriptions"]:
            if not entry["SubscriptionArn"].startswith("arn:"):
                yield (
                    f"NO ALARM REACHES {entry['Endpoint']} until the link in the mail from AWS "
                    "Notifications is followed"
                )


def _without_receivers(
    names: Collection[str], values: Mapping[str, str], before: Mapping[str, str] | None
) -> Iterator[Concern]:
    merged = {**(before or {}), **values}
    if _RECEIVERS[0] in names and not any(merged.get(name) for name in _RECEIVERS):
        yield Concern(
            "ALARMS HAVE NO RECEIVER, and there is no budget alarm: name an address by "
            'SET="AlarmEmail=ops@shop.example", or a topic by SET="AlarmTopicArn=arn:…"',
            "Deploy without a receiver of alarms?" if before is None else "",
        )


def _log_role(
    target: Target, value: str, before: Mapping[str, str] | None
) -> tuple[list[Concern], dict[str, str]]:
    """Return concerns about API Gateway's role for logs, and parameters that keep this role."""
    is_new = before is None
    is_taken = value == "true" and (before or {}).get(LOG_ROLE) != "true"
    if not is_taken and (value or not is_new):
        return [], {}
    role = target.client("apigateway").get_account().get("cloudwatchRoleArn", "")
    asks = partial(target.client("iam").get_role, RoleName=role.rsplit("/")[-1])
    if not role or not is_there(asks):
        return [], {}
    if is_taken:
        text = f"REPLACES the role that API Gateway logs with in the whole account: {role}"
        return [Concern(text, f"Replace {role} for every API of this account and region?")], {}
    text = f"API Gateway already logs with the role {role}, which is not changed"
    return [Concern(text)], {LOG_ROLE: "false"}
