"""A small package, small models, and an account in memory to deploy them to."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from infra.deploying import preflight
from infra.deploying.account import Target
from infra.deploying.preflight import AccountLimits
from tests.held import reset_aws

DATA_TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Name": {"Type": "String"}},
    "Resources": {
        "DataBucket": {
            "Type": "AWS::S3::Bucket",
            "DeletionPolicy": "Retain",
            "Properties": {
                "BucketName": {"Fn::Sub": "${Name}-data-${AWS::AccountId}-${AWS::Region}"}
            },
        },
    },
    "Outputs": {"SigningKeyArn": {"Value": "arn:aws:secretsmanager:the-key"}},
}
TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {
        "Name": {"Type": "String"},
        "ModelCatalogue": {"Type": "String"},
        "SigningKeyArn": {"Type": "String"},
        "LogDays": {"Type": "Number", "Default": 30},
    },
    "Resources": {
        "IngestQueue": {
            "Type": "AWS::SQS::Queue",
            "Properties": {"QueueName": {"Fn::Sub": "${Name}-ingest"}},
        },
    },
    "Outputs": {"EndpointURL": {"Value": "https://api.example.test/api/"}},
}


@pytest.fixture
def target(aws_in_memory: None, monkeypatch: pytest.MonkeyPatch) -> Target:
    """An empty account with full limits: the emulator reports neither limits nor rights."""
    reset_aws()
    monkeypatch.setattr(preflight, "read_limits", lambda _: AccountLimits(1_000, 1_000))
    monkeypatch.setattr(preflight, "denied_actions", lambda _: [])
    monkeypatch.setattr(preflight, "QUEUE_SECONDS", 0)
    return Target("test", "us-east-1")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder as `make package` leaves it."""
    return write_package(tmp_path / "package")


def write_package(folder: Path, template: dict[str, Any] = TEMPLATE) -> Path:
    """Write a package of one file and a template."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "deployment.zip", "w") as archive:
        archive.writestr("app.py", "app = None\n")
    (folder / "sam.json").write_text(json.dumps(template))
    (folder / "data.json").write_text(json.dumps(DATA_TEMPLATE))
    return folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Two installed model folders."""
    folder = tmp_path / "models"
    for name, content in (("minilm", b"encoder"), ("prebuilt/Mood", b"artifact")):
        (folder / name).mkdir(parents=True)
        (folder / name / "model.bin").write_bytes(content)
        facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        record = {"name": name, "files": {"model.bin": facts}}
        (folder / name / "installed.json").write_text(json.dumps(record))
    return folder
