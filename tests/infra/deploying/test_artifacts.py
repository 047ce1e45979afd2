"""Packages and model files are uploaded once and complete; unusable ones are refused."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.fetching.model_downloads import ModelDownloads, write_catalogue
from infra.deploying import artifacts
from infra.deploying.account import DeployError, Target
from infra.deploying.artifacts import (
    check_package,
    ensure_bucket,
    has_bucket,
    read_models,
    upload_models,
    upload_package,
)
from tests.infra.deploying.conftest import TEMPLATE, write_package


def _quiet(line: str) -> None:
    """Say nothing."""


def test_package_that_is_missing_or_damaged(tmp_path: Path) -> None:
    """Each missing part of a package is reported in one line with the command that fixes it."""
    with pytest.raises(DeployError, match="missing: build the package by `make package`"):
        check_package(tmp_path)
    for name in ("sam.json", "data.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "deployment.zip").write_bytes(b"no zip")
    with pytest.raises(DeployError, match="is damaged"):
        check_package(tmp_path)


def test_package_over_the_limit(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that Lambda would refuse is refused before anything is uploaded."""
    monkeypatch.setattr(artifacts, "MAX_UNPACKED_BYTES", 10)

    with pytest.raises(
        DeployError,
        match=r"11 bytes unpacked, Lambda takes 10: look for its largest parts in report",
    ):
        check_package(package)


def test_package_is_uploaded_by_its_digest(target: Target, package: Path) -> None:
    """A package is uploaded under its digest, and the same package only once."""
    function = {"Type": "AWS::Serverless::Function", "Properties": {"CodeUri": "./deployment.zip"}}
    write_package(package, {**TEMPLATE, "Resources": {"F": function}})
    said: list[str] = []
    ensure_bucket(target, said.append)

    made = upload_package(target, package, {}, said.append)
    again = upload_package(target, package, {}, said.append)

    assert made == again
    url = made.url
    assert len([line for line in said if "deployment.zip" in line]) == 1
    s3 = target.client("s3")
    key = url.split(f"{target.artifact_bucket}/")[1]
    template = json.load(s3.get_object(Bucket=target.artifact_bucket, Key=key)["Body"])
    code = template["Resources"]["F"]["Properties"]["CodeUri"]
    name = code.removeprefix(f"s3://{target.artifact_bucket}/")
    stored = s3.get_object(Bucket=target.artifact_bucket, Key=name)["Body"].read()
    assert stored == (package / "deployment.zip").read_bytes()


def test_other_origins_are_another_document(target: Target, package: Path) -> None:
    """Other allowed origins change the API document, so that the gateway reloads it."""
    body = {"info": {"title": "t"}, "paths": {}}
    api = {"Type": "AWS::Serverless::Api", "Properties": {"DefinitionBody": body}}
    write_package(package, {**TEMPLATE, "Resources": {"RestAPI": api}})
    ensure_bucket(target, _quiet)

    urls = [
        upload_package(target, package, {"AllowedOrigins": origins}, _quiet).url
        for origins in ("", "https://shop.example", "https://shop.example")
    ]

    assert urls[0] != urls[1] == urls[2]


def test_bucket_of_artifacts_is_closed(target: Target) -> None:
    """The bucket is made once, and no one else can read it."""
    assert not has_bucket(target, target.artifact_bucket)
    for _ in range(2):
        ensure_bucket(target, _quiet)

    facts = target.client("s3").get_public_access_block(Bucket=target.artifact_bucket)
    assert all(facts["PublicAccessBlockConfiguration"].values())


def test_models_arrive_as_functions_bring_them(
    target: Target, models: Path, tmp_path: Path
) -> None:
    """A function downloads exactly the model files that were uploaded."""
    target.client("s3").create_bucket(Bucket=target.data_bucket)
    catalogue, paths = read_models(models)
    said: list[str] = []
    for _ in range(2):
        upload_models(target, catalogue, paths, said.append)
    key, _content = write_catalogue(catalogue)
    settings = replace(
        target.settings, models_from_bucket=key, model_dir=str(tmp_path / "function")
    )

    source = ModelDownloads(settings, Clients(settings))
    source.ensure("prebuilt/Mood")

    found = tmp_path / "function" / "prebuilt" / "Mood" / "model.bin"
    assert found.read_bytes() == b"artifact"
    assert len(said) == 2


def test_changed_or_missing_models(models: Path, tmp_path: Path) -> None:
    """A changed or missing model file is not deployed."""
    (models / "minilm" / "model.bin").write_bytes(b"other")
    with pytest.raises(DeployError, match="not the file that was installed"):
        read_models(models)
    with pytest.raises(DeployError, match="run `make models`"):
        read_models(tmp_path / "nowhere")


def test_bomb_is_measured_by_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unpacked size counts, however small the zip is."""
    folder = write_package(tmp_path / "p")
    with zipfile.ZipFile(folder / "deployment.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(100_000))
    monkeypatch.setattr(artifacts, "MAX_UNPACKED_BYTES", 50_000)

    with pytest.raises(DeployError, match="100,000 bytes unpacked"):
        check_package(folder)
