"""Checks before anything is created: services, rights, and account limits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from infra import deploy as command
from infra.deploying import artifacts, preflight
from infra.deploying.account import DeployError, Target
from infra.deploying.deployer_policy import CHECKED
from infra.deploying.preflight import AccountLimits, check_limits, check_services
from infra.deploying.stack import Stack
from infra.template.functions import FUNCTIONS
from infra.template.parameters import SMALL_MEMORY_MB, memory_id, parameters, size
from tests.infra.deploying.conftest import TEMPLATE, write_package

DEFAULTS = {name: str(facts.get("Default", "")) for name, facts in parameters().items()}
YOUNG, GROWN = AccountLimits(10, 10), AccountLimits(1_000, 1_000)
ACCOUNT = "123456789012"
read_limits, denied_actions = preflight.read_limits, preflight.denied_actions


def test_grown_account_fits() -> None:
    """An account with AWS's default limits passes without a message."""
    assert check_limits(GROWN, DEFAULTS, (), 0) == []


def test_young_account_is_offered_the_small_size() -> None:
    """An account with 10 concurrent functions is refused with remedies; the preset passes."""
    with pytest.raises(
        DeployError, match=r"3008 MB, and APIHandlerMemory is 3538: pass SIZE=small"
    ):
        check_limits(YOUNG, DEFAULTS, (), 0)
    enough = {memory_id(function) for function in FUNCTIONS}
    with pytest.raises(DeployError, match=r"at most 10 .* ask for 87: pass SIZE=small, or ask AWS"):
        check_limits(YOUNG, DEFAULTS, enough, 0)

    [said] = check_limits(YOUNG, DEFAULTS | size("small"), (), 0)

    assert "at most 10 functions at once" in said
    assert max(int(size("small")[name]) for name in enough) == SMALL_MEMORY_MB


def test_sizes_are_parameters() -> None:
    """The standard size equals the template's defaults, so that it can be restored."""
    assert {name: DEFAULTS[name] for name in size("standard")} == size("standard")
    assert set(size("small")) == set(size("standard"))


@pytest.mark.parametrize(
    ("given", "before", "message"),
    [
        ({"TrainPaidReserved": "3"}, 0, "TrainPaidReserved=3 is below TrainPaidAtOnce=10"),
        (
            {"APIHandlerReserved": "901"},
            0,
            "901 .* cannot be reserved: 900 can, since AWS keeps 100",
        ),
        ({"APIHandlerReserved": "951"}, 50, "951 .* cannot be reserved: 950 can"),
    ],
)
def test_concurrency_that_is_set_aside(given: Any, before: int, message: str) -> None:
    """Reserved concurrency is limited by the account's minimum of unreserved concurrency."""
    with pytest.raises(DeployError, match=message):
        check_limits(GROWN, DEFAULTS | given, (), before)


def test_concurrency_that_fits() -> None:
    """What the stage has set aside already does not count twice."""
    limits = AccountLimits(1_000, 950)

    assert check_limits(limits, DEFAULTS | {"APIHandlerReserved": "900"}, (), 50) == []


class Account:
    """Services that the emulator lacks, as far as they are asked."""

    def __init__(self, arn: str, denied: str = "", refusal: str = "", missing: str = "") -> None:
        self.asked: list[dict[str, Any]] = []
        self._arn, self._denied, self._refusal = arn, denied, refusal
        self._missing = [missing] if missing else []

    def get_caller_identity(self) -> dict[str, str]:
        """Name the caller."""
        return {"Arn": self._arn, "Account": ACCOUNT}

    def get_role(self, RoleName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 names it
        """Show a role, whose path no session's name contains."""
        return {"Role": {"Arn": f"arn:aws:iam::{ACCOUNT}:role/people/{RoleName}"}}

    def simulate_principal_policy(self, **asked: Any) -> dict[str, Any]:
        """Allow all but one action."""
        if self._refusal:
            raise ClientError({"Error": {"Code": self._refusal}}, "SimulatePrincipalPolicy")
        self.asked.append(asked)
        [action] = asked["ActionNames"]
        decision = "implicitDeny" if action == self._denied else "allowed"
        result = {"EvalDecision": decision, "MissingContextValues": self._missing}
        return {"EvaluationResults": [result]}

    def get_account_settings(self) -> dict[str, Any]:
        """Show the limits of Lambda."""
        limit = {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}
        return {"AccountLimit": limit}


def use(account: Any, monkeypatch: pytest.MonkeyPatch) -> Target:
    """Have every client be this one."""
    monkeypatch.setattr(Target, "client", lambda *_: account)
    return Target("prod", "eu-central-1")


def test_rights_are_asked_for_what_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights are checked for the stage's own names; missing ones are listed."""
    user = f"arn:aws:iam::{ACCOUNT}:user/deployer"
    account = Account(user, denied="iam:PassRole")
    target = use(account, monkeypatch)

    assert denied_actions(target) == ["iam:PassRole"]
    assert [asked["ActionNames"] for asked in account.asked] == [[name] for name in CHECKED]
    assert {asked["PolicySourceArn"] for asked in account.asked} == {user}
    resources = {asked["ResourceArns"][0] for asked in account.asked}
    assert f"arn:aws:dynamodb:eu-central-1:{ACCOUNT}:table/presage-prod-accounts" in resources
    assert not any("{" in resource for resource in resources)


def test_rights_of_other_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session has its role's rights, root has all; without the right to ask it warns."""
    session = Account(f"arn:aws:sts::{ACCOUNT}:assumed-role/admins/ann")
    assert denied_actions(use(session, monkeypatch)) == []
    assert session.asked[0]["PolicySourceArn"] == f"arn:aws:iam::{ACCOUNT}:role/people/admins"
    root = Account(f"arn:aws:iam::{ACCOUNT}:root", denied="s3:CreateBucket")
    assert denied_actions(use(root, monkeypatch)) == []
    mfa = "aws:MultiFactorAuthPresent"
    conditional = Account(f"arn:aws:iam::{ACCOUNT}:user/y", denied="s3:CreateBucket", missing=mfa)
    assert denied_actions(use(conditional, monkeypatch)) == []
    blind = Account(f"arn:aws:iam::{ACCOUNT}:user/x", refusal="AccessDenied")
    assert denied_actions(use(blind, monkeypatch)) is None


def test_limits_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both figures of Lambda are read."""
    assert read_limits(use(Account("x"), monkeypatch)) == YOUNG


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="https://sqs.example"),
        ClientError({"Error": {"Code": "UnrecognizedClientException"}}, "ListQueues"),
    ],
)
def test_service_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """A service that does not answer is named before anything is created."""

    def refuse(_: Any) -> None:
        raise error

    target = use(SimpleNamespace(), monkeypatch)
    monkeypatch.setattr(preflight, "_PROBES", {"sqs": refuse})

    with pytest.raises(DeployError, match="sqs does not answer in eu-central-1: choose a region"):
        check_services(target)


def test_every_service_is_asked(target: Target) -> None:
    """The calls by which services are asked are ones that AWS has."""
    check_services(target)


@pytest.mark.parametrize("what", ["limits", "rights"])
def test_refused_before_anything_is_made(
    target: Target, package: Any, models: Any, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """If a deployment would fail, neither bucket nor stack is created, even with YES=1."""
    words = ["deploy", "--stage", "test", "--poll", "0", "--only-stack", "--yes"]
    words += ["--package", str(package), "--models", str(models)]
    facts = {
        name: {"Type": "Number", "Default": int(text)} for name, text in size("standard").items()
    }
    write_package(package, {**TEMPLATE, "Parameters": {**TEMPLATE["Parameters"], **facts}})
    if what == "limits":
        monkeypatch.setattr(preflight, "read_limits", lambda _: YOUNG)
    else:
        monkeypatch.setattr(preflight, "denied_actions", lambda _: ["sqs:CreateQueue"])

    remedy = (
        "SIZE=small" if what == "limits" else r"may not call sqs:CreateQueue: docs/deployer\.md"
    )
    with pytest.raises(DeployError, match=remedy):
        command.deploy(command._parser().parse_args(words), target)

    assert not artifacts.has_bucket(target, target.artifact_bucket)
    stack = Stack(target, target.stack, print)
    assert stack.status() == ""
    if what == "limits":
        command.deploy(command._parser().parse_args([*words, "--size", "small"]), target)
        assert stack.parameters()["APIHandlerMemory"] == "3008"
        command.deploy(command._parser().parse_args(words), target)
        assert stack.parameters()["APIHandlerMemory"] == "3008"
