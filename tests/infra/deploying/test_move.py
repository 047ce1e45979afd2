"""A stage of version 0.2.0, which was one stack, moves to today's two as docs/deploy.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra import backup
from infra import deploy as command
from infra.deploying.account import DeployError, Target
from infra.deploying.stack import Stack
from infra.template.storage import storage
from tests.infra.deploying.conftest import DATA_TEMPLATE, TEMPLATE

ROW = {"account_id": {"S": "kept"}, "plan": {"S": "STARTER"}}
TABLES = {name: part for name, part in storage().items() if part["Type"] == "AWS::DynamoDB::Table"}
LATER = "ExportsTable"
"""A table that 0.2.0 did not have."""


@pytest.fixture
def old_stage(target: Target) -> Target:
    """A stage as 0.2.0 left it: tables, bucket and queues in one stack, with a row and a file."""
    tables = {name: part for name, part in TABLES.items() if name != LATER}
    assert len(tables) == len(TABLES) - 1
    template = {
        **TEMPLATE,
        "Parameters": {"Name": {"Type": "String"}},
        "Resources": {**DATA_TEMPLATE["Resources"], **TEMPLATE["Resources"], **tables},
        "Outputs": {**TEMPLATE["Outputs"], "BucketName": {"Value": target.data_bucket}},
    }
    target.client("cloudformation").create_stack(
        StackName=target.stack,
        TemplateBody=json.dumps(template),
        Parameters=[{"ParameterKey": "Name", "ParameterValue": target.stack}],
    )
    target.client("dynamodb").put_item(TableName=f"{target.stack}-accounts", Item=ROW)
    target.client("s3").put_object(
        Bucket=target.data_bucket, Key="prebuilt/files/old", Body=b"model of before"
    )
    return target


@pytest.fixture
def run(package: Path, models: Path, target: Target) -> Any:
    """The commands that the document names."""
    data = {**DATA_TEMPLATE, "Resources": {**DATA_TEMPLATE["Resources"], **TABLES}}
    (package / "data.json").write_text(json.dumps(data))

    def call(what: str, *more: str) -> None:
        given = ["--package", str(package), "--models", str(models), "--only-stack"]
        words = [what, "--stage", target.stage, "--yes", "--poll", "0", *more]
        options = command._parser().parse_args([*words, *(given if what == "deploy" else ())])
        {"deploy": command.deploy, "destroy": command.destroy}[what](options, target)

    return call


def _row(target: Target) -> Any:
    """Read the row that the old stage had."""
    table = f"{target.stack}-accounts"
    key = {"account_id": ROW["account_id"]}
    return target.client("dynamodb").get_item(TableName=table, Key=key).get("Item")


def test_stage_of_one_stack_is_left_alone(old_stage: Target, run: Any) -> None:
    """A stage of one stack is refused with the way to move it, and stays unchanged."""
    before = old_stage.client("cloudformation").describe_stack_events(StackName=old_stage.stack)

    with pytest.raises(DeployError, match=r"up to 0\.2\.0 .*infra\.backup dump.*DELETE_DATA=1"):
        run("deploy")

    after = old_stage.client("cloudformation").describe_stack_events(StackName=old_stage.stack)
    assert after["StackEvents"] == before["StackEvents"]
    assert Stack(old_stage, old_stage.data_stack, print).status() == ""
    assert _row(old_stage) == ROW


def test_stage_of_one_stack_moves_by_a_backup(old_stage: Target, run: Any, tmp_path: Path) -> None:
    """After the five documented commands its rows exist, and so do the new models."""
    folder = str(tmp_path / "backup")
    where = ["--stage", old_stage.stage, "--region", old_stage.region_name]
    # A stack that a change set made has no outputs in this emulator, so it is named otherwise.
    names = {"PRESAGE_NAME": old_stage.stack, "PRESAGE_BUCKET": old_stage.data_bucket}
    names["AWS_REGION"] = old_stage.region_name

    assert backup.main(["dump", folder, *where]) == 0
    run("destroy", "--delete-data")
    run("deploy")
    assert _row(old_stage) is None
    assert backup.main(["restore", folder, "--aws", "--replace"], names) == 0
    assert _row(old_stage) == ROW
    run("deploy")

    listed = old_stage.client("s3").list_objects_v2(Bucket=old_stage.data_bucket)["Contents"]
    keys = {entry["Key"] for entry in listed}
    assert any(re.match(r"prebuilt/catalogues/", key) for key in keys)
    assert _row(old_stage) == ROW
