"""Administrator commands find a deployed stage by its stack."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import handlers
from botocore.session import Session

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra import accounts, backup
from infra.resources import provision
from tests.held import reset_aws
from tests.quick_aws import answer_directly

REGION = "eu-central-1"
BUCKET = "presage-prod-data-123456789012-eu-central-1"
OUTPUTS = {"BucketName": BUCKET, "EndpointURL": "https://a1b2.example.test/api/"}


@pytest.fixture
def deploy(aws_in_memory: None) -> Any:
    """A function that creates a stack with given outputs in an otherwise empty account."""
    reset_aws()

    def make(outputs: dict[str, str]) -> None:
        template = {
            "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {name: {"Value": value} for name, value in outputs.items()},
        }
        if not outputs:
            del template["Outputs"]
        client = boto3.session.Session(region_name=REGION).client("cloudformation")
        client.create_stack(StackName="presage-prod", TemplateBody=json.dumps(template))

    return make


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a shell that names no table and no bucket."""
    return {"PRESAGE_STATE_DIR": str(tmp_path / "state"), "AWS_DEFAULT_REGION": "us-east-1"}


def test_accounts_and_backups_find_a_stage(
    deploy: Any, environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables, bucket and region come from the stack; a stage needs no variable."""
    deploy(OUTPUTS)
    settings = Settings(name="presage-prod", region=REGION, bucket=BUCKET)
    provision(settings)
    Clients(settings).s3.put_object(Bucket=BUCKET, Key="datasets/1/raw", Body=b"kept")
    named = ["--stage", "prod", "--region", REGION]
    key, folder = tmp_path / "ann.pem", tmp_path / "copy"

    assert (
        accounts.main(["create", "a@example.com", "--key-file", str(key), *named], environment) == 0
    )
    assert accounts.main(["list", *named], environment) == 0
    assert backup.main(["dump", str(folder), *named], environment) == 0

    shown = capsys.readouterr()
    assert "a@example.com" in shown.out
    assert "presage-prod-accounts: 2 rows" in shown.err
    assert f"{BUCKET}: 1 objects" in shown.err


@pytest.mark.parametrize(
    ("outputs", "url"),
    [
        (OUTPUTS, "https://a1b2.example.test/api"),
        ({**OUTPUTS, "DomainUrl": "https://api.shop.example"}, "https://api.shop.example"),
    ],
)
def test_a_token_is_asked_where_the_stage_listens(
    deploy: Any,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    outputs: dict[str, str],
    url: str,
) -> None:
    """The token URL comes from the stack; a custom domain wins."""
    deploy(outputs)
    asked: list[str] = []
    monkeypatch.setattr(accounts, "request_token", lambda where, *_: asked.append(where) or "t")
    given = ["--stage", "prod", "--region", REGION, "--key-file", "none"]

    assert accounts.main(["token", "a@example.com", *given], environment) == 0
    assert asked == [url]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--stage", "test", "--region", REGION], "presage-test in eu-central-1 does not exist"),
        (["--stage", "prod"], "the stack presage-prod in us-east-1 does not exist: pass"),
        (["--stage", "prod", "--region", REGION], "is half-deployed (CREATE_COMPLETE): deploy it"),
        (["--stage", "prod", "--region", "eu-centrl-1"], "did you mean eu-central-1?"),
        (["--region", REGION], "--region goes with --stage"),
    ],
)
@pytest.mark.parametrize("command", [accounts, backup])
def test_a_stage_that_is_not_there(
    deploy: Any,
    environment: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    said: str,
    command: Any,
) -> None:
    """A wrong name or region, or an incomplete stack, is one line with the remedy."""
    deploy({})
    run = ["list"] if command is accounts else ["dump", str(tmp_path / "copy")]

    assert command.main([*run, *given], environment) == 1

    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_stage_whose_service_is_removed(
    environment: dict[str, str], aws_in_memory: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Data without its service is reported, with the ways to reach it."""
    reset_aws()
    create = boto3.session.Session(region_name=REGION).client("cloudformation").create_stack
    queue = {"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}
    create(StackName="presage-prod-data", TemplateBody=json.dumps(queue))

    assert accounts.main(["list", "--stage", "prod", "--region", REGION], environment) == 1

    error = capsys.readouterr().err
    assert "the service of presage-prod is removed, its data is there: deploy it again" in error
    assert "PRESAGE_NAME=presage-prod PRESAGE_BUCKET=presage-prod-data-" in error


@pytest.mark.parametrize("command", [accounts, backup])
def test_tables_that_are_not_there(
    deploy: Any,
    environment: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: Any,
) -> None:
    """Without the service's tables the command says how to name them."""
    run = ["list"] if command is accounts else ["dump", str(tmp_path / "copy")]

    assert command.main([*run, "--aws"], environment) == 1

    error = capsys.readouterr().err
    assert "the table or bucket does not exist in us-east-1: name the stage by --stage" in error
    assert error.count("\n") == 1


@pytest.fixture
def stranger(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The same variables, in a shell without credentials."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    return environment


NO_CREDENTIALS = "no AWS credentials were found: set AWS_PROFILE"


def test_no_credentials(
    stranger: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without credentials the command for accounts says which variables to set, in one line."""
    # A separate session: one that other tests share may have found credentials.
    monkeypatch.setattr("chalicelib.stores.aws.clients.Session", Session)
    # Calls that are answered directly need no credentials.
    kept = [one for one in handlers.BUILTIN_HANDLERS if one[1] is not answer_directly]
    monkeypatch.setattr(handlers, "BUILTIN_HANDLERS", kept)

    assert accounts.main(["list", "--aws"], stranger) == 1

    error = capsys.readouterr().err
    assert NO_CREDENTIALS in error
    assert error.count("\n") == 1


def test_no_credentials_for_a_backup(stranger: dict[str, str], tmp_path: Path) -> None:
    """Started as the documentation says, the command for backups says so, too."""
    ended = subprocess.run(
        [sys.executable, "-m", "infra.backup", "dump", str(tmp_path / "copy"), "--aws"],
        env={**os.environ, **stranger},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert NO_CREDENTIALS in ended.stderr
    assert ended.stderr.count("\n") == 1
