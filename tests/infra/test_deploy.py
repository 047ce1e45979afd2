"""Deploying and removing a stage: questions, retained data and error messages."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from infra import deploy as command
from infra.deploying import artifacts, preflight, removal
from infra.deploying.account import DeployError, Target, explained
from infra.deploying.stack import Change, Stack
from tests.infra.deploying.conftest import TEMPLATE, models, package, target, write_package

__all__ = ["models", "package", "target"]


@pytest.fixture
def options(package: Path, models: Path) -> Any:
    """Options of the command, as the Makefile gives them."""

    def parse(run: str, *more: str) -> Any:
        given = ["--package", str(package), "--models", str(models), "--only-stack"]
        words = [run, "--stage", "test", "--poll", "0", *(given if run == "deploy" else ())]
        return command._parser().parse_args([*words, *more])

    return parse


def _never(question: str) -> str:
    """Fail a test in which a question is asked."""
    raise AssertionError(question)


def test_stage_is_deployed_updated_and_removed(
    target: Target, options: Any, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Changes are shown before they are made; the data outlives the stack by default."""
    command.deploy(options("deploy", "--yes"), target, _never)

    s3 = target.client("s3")
    keys = [o["Key"] for o in s3.list_objects_v2(Bucket=target.data_bucket)["Contents"]]
    assert [key.split("/")[:2] for key in keys] == [["prebuilt", "catalogues"]] + 2 * [
        ["prebuilt", "files"]
    ]
    shown = capsys.readouterr().err
    for name, stack in (("DataBucket", target.data_stack), ("IngestQueue", target.stack)):
        made = shown.index(f"CREATE_COMPLETE              {stack}\n")
        assert shown.index(f"Add     {name}") < made

    queue = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::Sub": "${Name}-new"}}}
    more = {**TEMPLATE, "Resources": {**TEMPLATE["Resources"], "NewQueue": queue}}
    write_package(package, more)
    command.deploy(options("deploy", "--set", "LogDays=7"), target, lambda _: "y")
    assert "Add     NewQueue" in capsys.readouterr().err
    [facts] = target.client("cloudformation").describe_stacks(StackName=target.stack)["Stacks"]
    assert {"ParameterKey": "LogDays", "ParameterValue": "7"} in facts["Parameters"]

    command.destroy(options("destroy"), target, lambda _: "test")
    assert Stack(target, target.stack, _never).status() == ""
    shown = capsys.readouterr().err
    assert f"kept: stack {target.data_stack}" in shown
    assert f"kept: bucket {target.data_bucket}" in shown
    command.deploy(options("deploy", "--yes"), target, _never)
    assert f"{target.data_stack} is as it should be" in capsys.readouterr().err
    command.destroy(options("destroy", "--yes", "--delete-data"), target, _never)
    assert f"deleted bucket {target.data_bucket}" in capsys.readouterr().err
    for name in (target.stack, target.data_stack):
        assert Stack(target, name, _never).status() == ""


def _with_function(runtime: str) -> dict[str, Any]:
    """Return the template with a function that a Python runs."""
    code = {"S3Bucket": "b", "S3Key": "k"}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}
    facts = {"Runtime": runtime, "Handler": "app.app", "CodeUri": code, "Role": "r"}
    function = {"Type": "AWS::Serverless::Function", "Properties": facts}
    return {**TEMPLATE, "Resources": {**TEMPLATE["Resources"], "Role": role, "F": function}}


@pytest.mark.filterwarnings("ignore:Tried to parse AWS.*Function")
def test_another_python_is_asked_for(
    target: Target, options: Any, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A change of the runtime is shown with its function and needs its own confirmation."""
    write_package(package, _with_function("python3.12"))
    command.deploy(options("deploy"), target, lambda _: "y")
    assert "ANOTHER PYTHON" not in capsys.readouterr().err
    write_package(package, _with_function("python3.13"))
    questions: list[str] = []

    def refuse(question: str) -> str:
        questions.append(question)
        return "n"

    with pytest.raises(DeployError, match="nothing was changed"):
        command.deploy(options("deploy"), target, refuse)
    assert questions == ["Change the runtime, python3.12 -> python3.13? [y/N] "]
    shown = capsys.readouterr().err
    assert "THE PYTHON VERSION of the functions changes" in shown

    command.deploy(options("deploy", "--yes"), target, _never)
    assert "THE PYTHON VERSION of the functions changes" in capsys.readouterr().err
    assert Stack(target, target.stack, _never).runtimes() == {"F": "python3.13"}


def test_change_of_the_runtime_is_shown_with_the_function() -> None:
    """A line of the change set names both Pythons."""
    change = Change("Modify", "F", "AWS::Lambda::Function", "False", "python3.12 -> python3.13")

    assert change.line.split() == ["Modify", "F", "AWS::Lambda::Function", *change.runtime.split()]


def test_runtime_that_cannot_load_the_wheels(target: Target, options: Any, package: Path) -> None:
    """A Python with a too old C library is refused on AWS, not on an emulator."""
    write_package(package, _with_function("python3.11"))

    with pytest.raises(DeployError, match=r"C library 2\.26.* need 2\.28.*PYTHON=/path/to"):
        command.deploy(options("deploy", "--yes"), target, _never)

    assert not artifacts.has_bucket(target, target.artifact_bucket)
    emulated = replace(target, endpoint_url="http://127.0.0.1:1")
    artifacts.check_runtimes(package, emulated)


def test_stack_reports_its_url(target: Target) -> None:
    """The URL is read from the stack; a missing stack has none."""
    stack = Stack(target, target.stack, _never)
    assert (stack.status(), stack.outputs()) == ("", {})
    given = {"Name": target.stack, "ModelCatalogue": "none", "SigningKeyArn": "none"}
    target.client("cloudformation").create_stack(
        StackName=target.stack,
        TemplateBody=json.dumps(TEMPLATE),
        Parameters=[{"ParameterKey": n, "ParameterValue": v} for n, v in given.items()],
    )

    assert stack.check()
    assert stack.outputs() == {"EndpointURL": "https://api.example.test/api/"}


def test_nothing_happens_without_a_confirmation(target: Target, options: Any) -> None:
    """A rejected change set is deleted, and a stage is not deleted without confirmation."""
    with pytest.raises(DeployError, match="nothing was changed"):
        command.deploy(options("deploy"), target, lambda _: "")
    for name in (target.stack, target.data_stack):
        assert Stack(target, name, _never).status() in ("", "REVIEW_IN_PROGRESS")
    with pytest.raises(DeployError, match="nothing was deleted"):
        command.destroy(options("destroy"), target, lambda _: "prod")


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("ROLLBACK_COMPLETE", "make destroy STAGE=test"),
        ("DELETE_FAILED", "make destroy STAGE=test"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback --stack-name presage-test"),
        ("UPDATE_IN_PROGRESS", "Wait until that has ended"),
    ],
)
def test_half_deployed_stack(
    target: Target, monkeypatch: pytest.MonkeyPatch, status: str, remedy: str
) -> None:
    """A stack in a failed state is refused with the way out."""
    stack = Stack(target, target.stack, _never)
    monkeypatch.setattr(stack, "_describe", lambda: {"StackStatus": status})

    with pytest.raises(DeployError, match=remedy) as refused:
        stack.check()
    assert status in str(refused.value)


def test_stage_of_one_stack_is_refused(target: Target, options: Any) -> None:
    """A version 0.2 stage, with data in one stack, is not deployed over."""
    target.client("s3").create_bucket(Bucket=target.data_bucket)

    with pytest.raises(
        DeployError, match=r"up to 0\.2\.0 deployed.*infra\.backup dump.*DELETE_DATA=1"
    ):
        command.deploy(options("deploy", "--yes"), target, _never)

    assert Stack(target, target.data_stack, _never).status() == ""
    command.destroy(options("destroy", "--yes", "--delete-data"), target, _never)
    command.deploy(options("deploy", "--yes"), target, _never)


def test_names_of_queues_are_waited_for(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redeployment waits until AWS releases the names of deleted queues."""
    slept: list[float] = []
    monkeypatch.setattr(preflight.time, "sleep", slept.append)
    monkeypatch.setattr(preflight, "QUEUE_SECONDS", 65.0)
    stacks = [Stack(target, name, _never) for name in (target.data_stack, target.stack)]
    preflight.wait_for_names(stacks, target, _never)
    times = ((target.stack, 900), (target.stack, 45), (target.data_stack, 25), ("another", 1))

    def entries() -> list[dict[str, Any]]:
        """Return when stacks were deleted, by the clock of the moment that asks."""
        now = datetime.now(UTC)
        return [{"StackName": name, "DeletionTime": now - timedelta(0, s)} for name, s in times]

    for stack in stacks:
        stack._client = SimpleNamespace(
            describe_stacks=lambda **_: {"Stacks": []},
            get_paginator=lambda _: SimpleNamespace(
                paginate=lambda StackStatusFilter: [{"StackSummaries": entries()}]  # noqa: N803
            ),
        )
    said: list[str] = []

    preflight.wait_for_names(stacks, target, said.append)
    preflight.wait_for_names(stacks[1:], target, said.append)

    data, service = slept
    assert 39 < data <= 40
    assert 19 < service <= 20
    assert said[0] == "waiting 40 s: AWS recreates a deleted queue only after a minute"


class _SlowTables:
    """DynamoDB whose deleted tables remain visible for some time, as on AWS."""

    def __init__(self, client: Any, looks: int) -> None:
        self._client = client
        self._going: dict[str, int] = {}
        self._looks = looks
        client.meta.events.register("before-call.dynamodb.DeleteTable", self._begin)
        client.meta.events.register("before-call.dynamodb.DescribeTable", self._look)

    def _begin(self, params: dict[str, Any], **_: Any) -> Any:
        name = json.loads(params["body"])["TableName"]
        self._going[name] = self._looks
        return _Answer(), {"TableDescription": {"TableStatus": "DELETING"}}

    def _look(self, params: dict[str, Any], **_: Any) -> Any:
        name = json.loads(params["body"])["TableName"]
        self._going[name] -= 1
        if self._going[name] > 0:
            return _Answer(), {"Table": {"TableStatus": "DELETING"}}
        events = self._client.meta.events
        events.unregister("before-call.dynamodb.DeleteTable", self._begin)
        self._client.delete_table(TableName=name)
        events.register("before-call.dynamodb.DeleteTable", self._begin)
        return None


class _Answer:
    """An answer of AWS."""

    status_code = 200


@pytest.mark.parametrize("looks", [2, 5])
def test_deleted_tables_are_waited_for(
    target: Target,
    options: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    looks: int,
) -> None:
    """Tables being deleted are waited for, and not reported as retained."""
    monkeypatch.setattr(removal, "LOOK_SECONDS", 0)
    monkeypatch.setattr(removal, "MOST_LOOKS", 3)
    command.deploy(options("deploy", "--yes"), target, _never)
    table = f"{target.stack}-accounts"
    key = {"AttributeName": "account_id"}
    client = target.client("dynamodb")
    client.create_table(
        TableName=table,
        KeySchema=[{**key, "KeyType": "HASH"}],
        AttributeDefinitions=[{**key, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    _SlowTables(client, looks)
    clients = {"dynamodb": client}
    make = Target.client
    monkeypatch.setattr(Target, "client", lambda self, name: clients.get(name) or make(self, name))

    ends = partial(command.destroy, options("destroy", "--yes", "--delete-data"), target, _never)
    if looks > 3:
        with pytest.raises(DeployError, match=f"still deleting the table {table}: repeat"):
            ends()
        return
    ends()
    shown = capsys.readouterr().err
    assert f"deleted table {table}" in shown
    assert "kept" not in shown


def test_data_goes_with_all_its_versions(target: Target, options: Any) -> None:
    """DELETE_DATA also deletes old versions and delete markers."""
    command.deploy(options("deploy", "--yes"), target, _never)
    s3, bucket = target.client("s3"), target.data_bucket
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    for body in (b"1", b"2"):
        s3.put_object(Bucket=bucket, Key="datasets/1/raw", Body=body)
    s3.delete_object(Bucket=bucket, Key="datasets/1/raw")

    command.destroy(options("destroy", "--yes", "--delete-data"), target, _never)

    assert not artifacts.has_bucket(target, bucket)


def test_stillborn_data_goes_with_the_service(
    target: Target, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty data stack that failed to be created is removed with the service."""
    command.deploy(options("deploy", "--yes"), target, _never)
    data = Stack(target, target.data_stack, _never)
    monkeypatch.setattr(Stack, "has_failed_creation", lambda _: True)

    command.destroy(options("destroy", "--yes"), target, _never)

    assert data.status() == ""


def test_unknown_parameter(target: Target, options: Any) -> None:
    """An unknown template parameter is refused with the valid ones."""
    with pytest.raises(DeployError, match="unknown parameter LogsDays; parameters: LogDays, Model"):
        command.deploy(options("deploy", "--yes", "--set", "LogsDays=7"), target, _never)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--domain", "api.shop.example"], "needs both DOMAIN"),
        (
            [
                "--domain",
                "api.shop.example",
                "--certificate",
                "arn:aws:acm:eu-west-1:123456789012:certificate/1",
            ],
            "must be one of ACM in us-east-1",
        ),
        (["--set", "LogDays"], "NAME=VALUE"),
    ],
)
def test_options_that_do_not_fit(target: Target, options: Any, more: Any, message: str) -> None:
    """Options that cannot work together are refused before anything is created."""
    with pytest.raises(DeployError, match=message):
        command.deploy(options("deploy", "--yes", *more), target, _never)
    assert Stack(target, target.data_stack, _never).status() == ""


def test_wrong_region(
    aws_in_memory: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A region that does not exist is one line with a suggestion."""
    code = command.main(["destroy", "--stage", "test", "--region", "eu-centrl-1"])

    assert code == 1
    assert "unknown AWS region 'eu-centrl-1'; did you mean eu-central-1?" in capsys.readouterr().err


def test_no_credentials(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without credentials the command says which variables to set, in one line."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setattr(boto3.session, "Session", _new_session())

    assert command.main(["destroy", "--stage", "test", "--region", "us-east-1"]) == 1

    error = capsys.readouterr().err
    assert "no AWS credentials were found: set AWS_PROFILE" in error
    assert len(error.splitlines()) == 1


def _new_session() -> Any:
    """Return the session's class itself: the tests' cache would have credentials."""
    return getattr(boto3.session.Session, "__wrapped__", boto3.session.Session)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ExpiredToken", "refuses the credentials"),
        ("AccessDenied", "may not call CreateStack"),
        ("Throttling", "CreateStack failed: Throttling"),
    ],
)
def test_refused_calls_are_one_line(target: Target, code: str, message: str) -> None:
    """A refusal by AWS is reported with what to do."""
    answer = {"Error": {"Code": code, "Message": "no"}}

    with pytest.raises(DeployError, match=message), explained(target):
        raise ClientError(answer, "CreateStack")


def test_bad_stage_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A stage whose name cannot begin a bucket's is refused."""
    assert command.main(["destroy", "--stage", "Prod_1"]) == 1
    assert "lower-case letters" in capsys.readouterr().err


class FailingCloud:
    """CloudFormation whose stack fails: what it shows, look by look."""

    def __init__(self) -> None:
        self.looks = 0

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803 - as boto3 names it
        """Show the state before, then work, then the end."""
        self.looks += 1
        states = ["UPDATE_COMPLETE", "UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE"]
        return {"Stacks": [{"StackStatus": states[min(self.looks, 3) - 1]}]}

    def execute_change_set(self, **_: Any) -> None:
        """Begin."""

    def get_paginator(self, name: str) -> Any:
        """Show events, the newest first."""
        failed = [
            ("3", "Second", "UPDATE_FAILED", "Resource update cancelled"),
            ("2", "First", "CREATE_FAILED", "The name is taken"),
        ]
        events = [
            {
                "EventId": number,
                "LogicalResourceId": logical,
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
            }
            for number, logical, status, reason in (failed if self.looks > 1 else [])
        ]
        return SimpleNamespace(paginate=lambda **_: [{"StackEvents": events}])


def test_failure_names_its_first_cause(target: Target) -> None:
    """The error names the first resource that failed in this run, and why."""
    said: list[str] = []
    stack = Stack(target, target.stack, said.append, 0)
    stack._client = FailingCloud()

    with pytest.raises(DeployError) as refused:
        stack.execute("set")

    assert str(refused.value) == (
        "presage-test ended in UPDATE_ROLLBACK_COMPLETE: First: The name is taken"
    )
    assert len(said) == 2
