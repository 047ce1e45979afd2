"""What whoever deploys should know first: alarms that nobody gets, a role that others use too.

Each is told, and asked about unless YES=1 was given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from infra.deploying.account import Target, is_there

# Parameter: whether the stack sets the role by which API Gateway logs.
LOG_ROLE = "SetGatewayLogRole"
_RECEIVERS = ("AlarmEmail", "AlarmTopicArn")


@dataclass(frozen=True)
class Concern:
    """One thing to know, and perhaps to agree to."""

    text: str
    """What is told."""
    question: str = ""
    """What is asked; empty when nothing is."""


def concerns(
    target: Target,
    known: Collection[str],
    given: Mapping[str, str],
    before: Mapping[str, str] | None,
) -> tuple[list[Concern], dict[str, str]]:
    """Return what to know, and parameters that follow from it.

    Args:
        target: where the stage is deployed.
        known: parameters that there are.
        given: those that were named.
        before: those of the service as it is; None when it is not there yet.
    """
    found, added = list(_nobody_told(known, given, before)), dict[str, str]()
    if LOG_ROLE in known:
        more, added = _log_role(target, given.get(LOG_ROLE, ""), before)
        found += more
    return found, added


def unconfirmed(target: Target, topic: str) -> Iterator[str]:
    """Tell which addresses get no alarm yet, since nobody has followed the link of AWS's mail.

    Args:
        target: where the topic is.
        topic: its ARN.
    """
    pages = target.client("sns").get_paginator("list_subscriptions_by_topic")
    for page in pages.paginate(TopicArn=topic):
        for entry in page["Subscriptions"]:
            if not entry["SubscriptionArn"].startswith("arn:"):
                yield (
                    f"NO ALARM REACHES {entry['Endpoint']} until the link in the mail from AWS "
                    "Notifications is followed"
                )


def _nobody_told(
    known: Collection[str], given: Mapping[str, str], before: Mapping[str, str] | None
) -> Iterator[Concern]:
    """Say that alarms are sent to nobody."""
    wanted = {**(before or {}), **given}
    if _RECEIVERS[0] in known and not any(wanted.get(name) for name in _RECEIVERS):
        yield Concern(
            "ALARMS REACH NOBODY, and there is no budget alarm: name an address by "
            'SET="AlarmEmail=ops@shop.example", or a topic by SET="AlarmTopicArn=arn:…"',
            "Deploy without anybody who is told of alarms?" if before is None else "",
        )


def _log_role(
    target: Target, given: str, before: Mapping[str, str] | None
) -> tuple[list[Concern], dict[str, str]]:
    """Leave a role alone by which API Gateway logs already, unless told to replace it."""
    is_new = before is None
    is_taken = given == "true" and (before or {}).get(LOG_ROLE) != "true"
    if not is_taken and (given or not is_new):
        return [], {}
    role = target.client("apigateway").get_account().get("cloudwatchRoleArn", "")
    asks = partial(target.client("iam").get_role, RoleName=role.rsplit("/")[-1])
    if not role or not is_there(asks):
        return [], {}
    if is_taken:
        text = f"REPLACES the role by which API Gateway logs, for the whole account: {role}"
        return [Concern(text, f"Replace {role} for every API of this account and region?")], {}
    text = f"API Gateway logs by {role} in this account already; that stays"
    return [Concern(text)], {LOG_ROLE: "false"}
