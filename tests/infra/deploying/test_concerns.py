"""Warnings before a deployment: alarms without a receiver, and the account's logging role."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from infra import deploy as command
from infra.deploying.account import DeployError, Target
from infra.deploying.concerns import Concern, concerns, unconfirmed
from infra.deploying.stack import Stack
from tests.infra.deploying.conftest import TEMPLATE, write_package

ROLE_TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
KNOWN = {"SetGatewayLogRole", "AlarmEmail", "AlarmTopicArn"}
WITH_EMAIL = {"AlarmEmail": "ops@shop.example"}


class Gateway:
    """API Gateway's settings of an account, which the emulator does not keep."""

    def __init__(self, role: str) -> None:
        self._role = role

    def get_account(self) -> dict[str, str]:
        """Show the role that logs."""
        return {"cloudwatchRoleArn": self._role} if self._role else {}


@pytest.fixture
def use_role(target: Target, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the account's role that logs."""

    def use(arn: str) -> None:
        made = Target.client
        given = {"apigateway": Gateway(arn)}
        monkeypatch.setattr(Target, "client", lambda self, s: given.get(s) or made(self, s))

    return use


def make_role(target: Target) -> str:
    """Make a role; return its ARN."""
    made = target.client("iam").create_role(RoleName="logs", AssumeRolePolicyDocument=ROLE_TRUST)
    return str(made["Role"]["Arn"])


def test_alarms_without_a_receiver(target: Target) -> None:
    """Without an alarm receiver every deployment warns, and the first asks for confirmation."""
    receivers = {"AlarmEmail", "AlarmTopicArn"}

    [first], _ = concerns(target, receivers, {}, None)
    [later], _ = concerns(target, receivers, {}, {"AlarmEmail": ""})

    assert first.text == later.text
    assert first.text.startswith("ALARMS HAVE NO RECEIVER")
    assert "AlarmEmail=" in first.text
    assert first.question == "Deploy without a receiver of alarms?"
    assert later.question == ""
    for name in receivers:
        assert concerns(target, receivers, {name: "x"}, None) == ([], {})
        assert concerns(target, receivers, {}, {name: "x"}) == ([], {})


def test_role_of_the_account_stays(target: Target, use_role: Any) -> None:
    """An existing API Gateway logging role is kept, and the output says so."""
    arn = make_role(target)
    use_role(arn)

    [said], added = concerns(target, KNOWN, WITH_EMAIL, None)

    assert added == {"SetGatewayLogRole": "false"}
    assert said == Concern(f"API Gateway already logs with the role {arn}, which is not changed")
    assert concerns(target, KNOWN, WITH_EMAIL | {"SetGatewayLogRole": "false"}, None) == ([], {})


@pytest.mark.parametrize("before", [None, {"SetGatewayLogRole": "false"}])
def test_role_is_replaced_when_asked_for(target: Target, use_role: Any, before: Any) -> None:
    """Replacing the logging role needs a confirmation, since other APIs use it too."""
    arn = make_role(target)
    use_role(arn)

    [said], added = concerns(target, KNOWN, WITH_EMAIL | {"SetGatewayLogRole": "true"}, before)

    assert added == {}
    assert said.text.startswith("REPLACES")
    assert arn in said.question


@pytest.mark.parametrize("role", ["", "arn:aws:iam::123456789012:role/gone"])
def test_account_without_a_role(target: Target, use_role: Any, role: str) -> None:
    """If no logging role is set, or it is gone, the stack creates one."""
    use_role(role)

    assert concerns(target, KNOWN, WITH_EMAIL, None) == ([], {})


def test_own_role_is_not_asked_about_again(target: Target, use_role: Any) -> None:
    """An update of a stack that set the role itself does not mention it."""
    use_role(make_role(target))
    before = {"SetGatewayLogRole": "true"}

    assert concerns(target, KNOWN, WITH_EMAIL, before) == ([], {})
    assert concerns(target, KNOWN, WITH_EMAIL | before, before) == ([], {})


class Topic:
    """SNS with a subscription in some state: the emulator confirms each at once."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def get_paginator(self, _: str) -> Any:
        """Show the subscription."""
        found = [{"SubscriptionArn": self._arn, "Endpoint": "ops@shop.example"}]
        return SimpleNamespace(paginate=lambda **_: [{"Subscriptions": found}])


def test_address_that_was_not_confirmed(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unconfirmed alarm address is reported after each deployment."""
    for arn, count in (("PendingConfirmation", 1), ("arn:aws:sns:us-east-1:1:alarms:2", 0)):
        monkeypatch.setattr(Target, "client", lambda *_, arn=arn: Topic(arn))

        said = list(unconfirmed(target, "arn:aws:sns:us-east-1:1:alarms"))

        assert len(said) == count
        assert all("ops@shop.example until the link" in line for line in said)


def _never(question: str) -> str:
    """Fail a test in which a question is asked."""
    raise AssertionError(question)


def test_yes_never_asks(
    target: Target,
    package: Any,
    models: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A new stage without receivers asks for confirmation; with YES=1 it only warns."""
    names = {"AlarmEmail": "", "AlarmTopicArn": ""}
    more = {n: {"Type": "String", "Default": text} for n, text in names.items()}
    write_package(package, {**TEMPLATE, "Parameters": {**TEMPLATE["Parameters"], **more}})
    words = ["deploy", "--stage", "test", "--poll", "0", "--only-stack"]
    words += ["--package", str(package), "--models", str(models)]
    parse = command._parser().parse_args

    with pytest.raises(DeployError, match="nothing was changed"):
        command.deploy(parse(words), target, lambda _: "")
    assert Stack(target, target.data_stack, _never).status() == ""
    command.deploy(parse([*words, "--yes"]), target, _never)

    assert "ALARMS HAVE NO RECEIVER" in capsys.readouterr().err
    [facts] = target.client("cloudformation").describe_stacks(StackName=target.stack)["Stacks"]
    assert facts["Tags"] == [{"Key": "presage:stage", "Value": target.stack}]


@pytest.mark.usefixtures("aws_in_memory")
def test_no_terminal_to_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal the command says how to confirm in advance."""

    def ends(*_: Any) -> None:
        raise EOFError

    monkeypatch.setattr(command, "destroy", ends)

    assert command.main(["destroy", "--stage", "test", "--region", "us-east-1"]) == 1
    assert "pass YES=1" in capsys.readouterr().err
