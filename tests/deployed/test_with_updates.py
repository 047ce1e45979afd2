"""The stage is deployed again, changed in place and removed, after everything else ran on it."""

from __future__ import annotations

from tests.deployed.stage import Deployment


def retention(stage: Deployment) -> set[int]:
    """Days that the stage's logs are kept."""
    groups = stage.client("logs").describe_log_groups(logGroupNamePrefix=f"/presage/{stage.name}/")
    return {group["retentionInDays"] for group in groups["logGroups"]}


def test_the_same_again_changes_nothing(stage: Deployment):
    """The same package is uploaded once, and no change is made."""
    done = stage.run("deploy", "--only-stack")

    assert done.returncode == 0, done.stderr
    assert f"{stage.name} is as it should be" in done.stderr
    assert "uploading" not in done.stderr


def test_parameters_change_in_place(stage: Deployment):
    """What is set changes, what was set before stays, and the service answers where it did."""
    assert retention(stage) == {30}
    for pair in ("LogDays=90", "LogLevel=WARNING"):
        done = stage.run("deploy", "--only-stack", "--set", pair)
        assert done.returncode == 0, done.stderr
        assert "MADE ANEW" not in done.stderr
    facts = stage.client("lambda").get_function_configuration(FunctionName=f"{stage.name}-api")

    assert retention(stage) == {90}
    assert facts["Environment"]["Variables"]["PRESAGE_LOG_LEVEL"] == "WARNING"
    assert done.stdout.strip() == stage.url


def test_removed_stage_keeps_its_data(stage: Deployment):
    """The functions go; every table and the bucket stay, and the command names them."""
    tables = set(stage.client("dynamodb").list_tables()["TableNames"])
    done = stage.run("destroy")

    assert done.returncode == 0, done.stderr
    assert not stage.client("lambda").list_functions()["Functions"]
    assert set(stage.client("dynamodb").list_tables()["TableNames"]) == tables
    assert stage.client("s3").list_objects_v2(Bucket=stage.bucket)["KeyCount"] > 0
    named = {line.split()[-1] for line in done.stderr.splitlines() if "kept:" in line}
    assert named == tables | {stage.bucket}
