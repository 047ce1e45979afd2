"""The stage is deployed again, changed in place and removed, after everything else ran on it."""

from __future__ import annotations

from typing import Any

import pytest

from infra.template.functions import ALIAS
from tests.deployed.client import StageClient
from tests.deployed.stage import Deployment
from tests.deployed.test_texts import QUESTION
from tests.flows.client import LANGUAGE


def records(client: StageClient) -> dict[int, list[Any]]:
    """List the datasets of an account, each with its models."""
    found = client.get(f"{LANGUAGE}/datasets").ok["data"]
    return {
        made["id"]: [made, *client.get(f"{LANGUAGE}/datasets/{made['id']}/models").ok["data"]]
        for made in found
    }


@pytest.fixture(scope="module")
def before(stage: Deployment, client: StageClient) -> dict[int, list[Any]]:
    """The records of the account, read by the first test: later ones move the API elsewhere."""
    return records(client)


def retention(stage: Deployment) -> set[int]:
    """Days that the stage's logs are kept."""
    groups = stage.client("logs").describe_log_groups(logGroupNamePrefix=f"/presage/{stage.name}/")
    return {group["retentionInDays"] for group in groups["logGroups"]}


def test_the_same_again_changes_nothing(stage: Deployment, before: dict[int, list[Any]]):
    """The same package is uploaded once, and no change is made."""
    done = stage.run("deploy", "--only-stack")

    assert done.returncode == 0, done.stderr
    assert f"{stage.name}-data is as it should be" in done.stderr
    assert f"{stage.name} is as it should be" in done.stderr
    assert "uploading" not in done.stderr


def version(stage: Deployment) -> int:
    """Return the version that callers reach; check that it is the only one."""
    functions, name = stage.client("lambda"), f"{stage.name}-texts"
    found = functions.get_alias(FunctionName=name, Name=ALIAS)["FunctionVersion"]
    listed = functions.list_versions_by_function(FunctionName=name)["Versions"]

    assert [facts["Version"] for facts in listed] == ["$LATEST", found]
    return int(found)


def test_only_what_changes_is_published(stage: Deployment, client: StageClient):
    """A changed setting publishes a new version, which replaces the former one."""
    first = version(stage)
    for pair, is_new in (("LogDays=14", False), ("SlowMilliseconds=9000", False)):
        assert stage.run("deploy", "--only-stack", "--set", pair).returncode == 0
        assert (version(stage) > first) == is_new
    assert stage.run("deploy", "--only-stack", "--set", "LogLevel=ERROR").returncode == 0

    assert version(stage) > first
    assert client.get("/v2/apiusage").status == 200
    assert stage.run("deploy", "--only-stack", "--set", "LogDays=30").returncode == 0


def test_parameters_change_in_place(stage: Deployment):
    """What is set changes, what was set before stays, and the service answers where it did."""
    assert retention(stage) == {30}
    for pair in ("LogDays=90", "LogLevel=WARNING"):
        done = stage.run("deploy", "--only-stack", "--set", pair)
        assert done.returncode == 0, done.stderr
        assert "REPLACED" not in done.stderr
    facts = stage.client("lambda").get_function_configuration(FunctionName=f"{stage.name}-api")

    assert retention(stage) == {90}
    assert facts["Environment"]["Variables"]["PRESAGE_LOG_LEVEL"] == "WARNING"
    assert done.stdout.strip() == stage.url


def test_pages_of_an_origin_may_call(stage: Deployment):
    """One parameter opens the API and the bucket to a page, which is answered at its preflight."""
    page = "https://shop.example"
    done = stage.run("deploy", "--only-stack", "--set", f"AllowedOrigins={page}")
    assert done.returncode == 0, done.stderr
    asked = {"Origin": page, "Access-Control-Request-Method": "POST"}

    # The emulator recreates an API when its document changes.
    with StageClient(done.stdout.strip()) as anonymous:
        answer = anonymous.send("OPTIONS", "/v2/language/intent", None, asked)
    [_, rule] = stage.client("s3").get_bucket_cors(Bucket=stage.bucket)["CORSRules"]

    assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, page)
    assert rule["AllowedOrigins"] == [page]


def test_removed_stage_keeps_its_data(stage: Deployment):
    """The functions go; every table and the bucket stay, and the command names them."""
    tables = set(stage.client("dynamodb").list_tables()["TableNames"])
    done = stage.run("destroy")

    assert done.returncode == 0, done.stderr
    assert not stage.client("lambda").list_functions()["Functions"]
    assert set(stage.client("dynamodb").list_tables()["TableNames"]) == tables
    assert stage.client("s3").list_objects_v2(Bucket=stage.bucket)["KeyCount"] > 0
    named = {line.split()[-1] for line in done.stderr.splitlines() if "kept:" in line}
    assert named == tables | {stage.bucket, f"{stage.name}-data"}


def test_deployed_again_finds_its_data(
    stage: Deployment, client: StageClient, before: dict[int, list[Any]]
):
    """After destroy and deploy, earlier tokens, datasets and models work."""
    stage.deploy_again()
    stage.set_gateway_answers()
    model = next(model for _, *models in before.values() for model in models)

    with StageClient(stage.url, client.token) as again:
        assert again.get("/v2/apiusage").ok["object"] == "list"
        assert records(again) == before
        assert again.predict(model["modelId"], QUESTION).ok["probabilities"]


def test_removed_with_its_data(stage: Deployment):
    """DELETE_DATA leaves neither stack, table nor bucket."""
    done = stage.run("destroy", "--delete-data")

    assert done.returncode == 0, done.stderr
    assert "kept:" not in done.stderr
    assert stage.client("dynamodb").list_tables()["TableNames"] == []
    names = {bucket["Name"] for bucket in stage.client("s3").list_buckets()["Buckets"]}
    assert stage.bucket not in names
    assert not stage.client("secretsmanager").list_secrets()["SecretList"]
