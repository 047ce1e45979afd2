"""A function version is published only when something in it changes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from infra.deploying.artifacts import DIGEST, mark_releases

TEMPLATE: dict[str, Any] = {
    "Conditions": {"HasSnap": {"Fn::Equals": [{"Ref": "Snap"}, "on"]}},
    "Resources": {
        "Made": {
            "Type": "AWS::Serverless::Function",
            "Properties": {
                "AutoPublishAlias": "live",
                "CodeUri": "s3://bucket/packages/1.zip",
                "MemorySize": {"Ref": "Memory"},
                "FunctionName": {"Fn::Sub": "${Name}-made"},
                "Environment": {"Variables": {"LEVEL": {"Ref": "Level"}}},
                "SnapStart": {"ApplyOn": {"Fn::If": ["HasSnap", "PublishedVersions", "None"]}},
                "DeploymentPreference": {"Type": {"Ref": "Shifting"}},
                "Events": {"Queue": {"Properties": {"Most": {"Ref": "Most"}}}},
            },
        },
        "Plain": {"Type": "AWS::Serverless::Function", "Properties": {}},
        "Queue": {"Type": "AWS::SQS::Queue"},
    },
}
PARAMETERS = {
    "Memory": "512",
    "Name": "presage-a",
    "Level": "INFO",
    "Snap": "off",
    "Shifting": "AllAtOnce",
    "Most": "5",
    "Days": "30",
}


def digest(template: dict[str, Any] = TEMPLATE, **changed: str) -> str:
    """Return the digest of the function with some parameters changed."""
    copied = copy.deepcopy(template)
    mark_releases(copied, {**PARAMETERS, **changed})
    assert DIGEST not in copied["Resources"]["Plain"]["Properties"]
    return str(copied["Resources"]["Made"]["Properties"][DIGEST])


@pytest.mark.parametrize(
    ("name", "value"), [("Memory", "1024"), ("Name", "b"), ("Level", "DEBUG"), ("Snap", "on")]
)
def test_what_a_version_is_made_from_makes_another(name: str, value: str) -> None:
    """Memory, names, variables and conditions of a function change its version."""
    assert digest(**{name: value}) != digest()


@pytest.mark.parametrize("name", ["Shifting", "Most", "Days"])
def test_everything_else_makes_none(name: str) -> None:
    """Changes of the alias or of event sources do not change the version."""
    assert digest(**{name: "7"}) == digest()


def test_other_code_makes_another() -> None:
    """The package's digest is in its key."""
    other = copy.deepcopy(TEMPLATE)
    other["Resources"]["Made"]["Properties"]["CodeUri"] = "s3://bucket/packages/2.zip"

    assert digest(other) != digest()


def test_marking_again_changes_nothing() -> None:
    """A digest does not depend on the one before."""
    copied = copy.deepcopy(TEMPLATE)
    mark_releases(copied, PARAMETERS)
    first = copied["Resources"]["Made"]["Properties"][DIGEST]
    mark_releases(copied, PARAMETERS)

    assert copied["Resources"]["Made"]["Properties"][DIGEST] == first
    assert len(first) == 64
