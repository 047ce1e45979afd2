"""A stage is removed and deployed again by the commands that users run: its data is found."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from infra import deploy as command
from infra.deploying.account import Target
from infra.deploying.artifacts import has_bucket
from infra.deploying.stack import Stack
from infra.resources import queue_resources, table_resources
from tests.infra.deploying.conftest import models
from tests.local_stack import ENDPOINT
from tests.localstack.conftest import REGION
from tests.localstack.stack import without_functions, write_package

__all__ = ["models"]
KEY = {"account_id": {"S": "kept"}}


class Stage:
    """A separate stage, and the commands for it."""

    def __init__(self, folder: Path, models: Path) -> None:
        self.target = Target(f"t{secrets.token_hex(4)}", REGION, os.environ[ENDPOINT])
        self.tables = {table.name for table in table_resources(self.target.settings)}
        self._given = ["--package", str(folder), "--models", str(models), "--only-stack"]

    def run(self, what: str, *more: str) -> None:
        """Run a command."""
        words = [what, "--stage", self.target.stage, "--yes", "--poll", "0.2", *more]
        words += self._given if what == "deploy" else ()
        options = command._parser().parse_args(words)
        {"deploy": command.deploy, "destroy": command.destroy}[what](options, self.target)

    def there(self) -> tuple[set[str], set[str]]:
        """Name the tables and the queues that are there."""
        tables = self.target.client("dynamodb").list_tables()["TableNames"]
        queues = self.target.client("sqs").list_queues(QueueNamePrefix=self.target.stack)
        names = {url.rsplit("/")[-1] for url in queues.get("QueueUrls", ())}
        return self.tables & set(tables), names

    def content(self) -> tuple[Any, bytes, str]:
        """Read a row, an object, and the key that signs tokens."""
        target = self.target
        table = f"{target.stack}-accounts"
        row = target.client("dynamodb").get_item(TableName=table, Key=KEY)["Item"]
        found = target.client("s3").get_object(Bucket=target.data_bucket, Key="datasets/1/raw")
        arn = Stack(target, target.data_stack, print).outputs()["SigningKeyArn"]
        secret = target.client("secretsmanager").get_secret_value(SecretId=arn)
        return row, found["Body"].read(), secret["SecretString"]


@pytest.fixture
def stage(
    data: dict[str, Any],
    template: dict[str, Any],
    models: Path,
    tmp_path: Path,
) -> Stage:
    """A stage that is not deployed yet."""
    folder = tmp_path / "package"
    folder.mkdir()
    write_package(folder, data, without_functions(template))
    return Stage(folder, models)


def test_removed_service_finds_its_data_again(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows, objects and key are as before, through removal and deployment; then all of it goes."""
    stage.run("deploy")
    queues = {q.name for q in queue_resources(stage.target.settings, 0)}
    queues |= {q.dead_name for q in queue_resources(stage.target.settings, 0)}
    assert stage.there() == (stage.tables, queues)
    target = stage.target
    target.client("dynamodb").put_item(TableName=f"{target.stack}-accounts", Item=KEY)
    for body in (b"old", b"x"):
        target.client("s3").put_object(Bucket=target.data_bucket, Key="datasets/1/raw", Body=body)
    before = stage.content()

    stage.run("destroy")
    incoming = {name for name in queues if "-incoming" in name}
    assert stage.there() == (stage.tables, incoming)
    assert f"kept: stack {target.data_stack}" in capsys.readouterr().err
    stage.run("deploy")

    assert f"{target.data_stack} is as it should be" in capsys.readouterr().err
    assert stage.there() == (stage.tables, queues)
    assert stage.content() == before
    stage.run("destroy", "--delete-data")
    assert stage.there() == (set(), set())
    assert not has_bucket(target, target.data_bucket)
    assert "kept" not in capsys.readouterr().err
