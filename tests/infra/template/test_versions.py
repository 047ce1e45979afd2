"""Callers use function versions through an alias, with gradual updates."""

from __future__ import annotations

from typing import Any

import pytest

from infra.template.functions import ALIAS, ANSWERING, FUNCTIONS, Function
from infra.template.versions import SHIFTING

ANSWERS = [function for function in FUNCTIONS if function.name in ANSWERING]


def _facts(template: dict[str, Any], function: Function) -> dict[str, Any]:
    """Properties of a function."""
    found: dict[str, Any] = template["Resources"][function.logical]["Properties"]
    return found


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_every_function_has_an_alias(template: dict[str, Any], function: Function):
    """SAM lets gateway, queues and schedule call the alias, and former versions are removed."""
    assert _facts(template, function)["AutoPublishAlias"] == ALIAS
    assert template["Resources"][function.logical]["DeletionPolicy"] == "Delete"


def test_nothing_calls_past_the_alias(template: dict[str, Any]):
    """No route calls a function without its alias."""
    body = str(template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"])

    assert ".Alias'}" in body
    assert ".Arn}" not in body


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_updates_reach_callers_step_by_step(template: dict[str, Any], function: Function):
    """A tenth of the calls uses a new version first, and an alarm rolls back."""
    found = _facts(template, function).get("DeploymentPreference")
    if function.name not in ANSWERING:
        assert found is None, "jobs are tried again by themselves"
        return
    condition, watched, otherwise = found["Alarms"]["Fn::If"]
    alarms = {alarm["Ref"] for alarm in watched}

    assert template["Conditions"][condition] == {
        "Fn::Not": [{"Fn::Equals": [{"Ref": SHIFTING}, "AllAtOnce"]}]
    }
    assert otherwise == [{"Ref": "AWS::NoValue"}]
    assert found["Type"] == {"Ref": SHIFTING}
    assert template["Parameters"][SHIFTING]["Default"] == "Canary10Percent5Minutes"
    assert "ServerErrorsAlarm" in alarms
    assert len(alarms) == 2
    assert all(template["Resources"][name]["Type"] == "AWS::CloudWatch::Alarm" for name in alarms)


@pytest.mark.parametrize("function", ANSWERS, ids=lambda f: f.name)
def test_processes_may_be_kept_ready(template: dict[str, Any], function: Function):
    """A parameter sets the provisioned instances; the default is none."""
    condition, chosen, otherwise = _facts(template, function)["ProvisionedConcurrencyConfig"][
        "Fn::If"
    ]
    name = f"{function.logical}Provisioned"

    assert (chosen, otherwise) == (
        {"ProvisionedConcurrentExecutions": {"Ref": name}},
        {"Ref": "AWS::NoValue"},
    )
    assert template["Conditions"][condition] == {"Fn::Not": [{"Fn::Equals": [{"Ref": name}, 0]}]}
    assert template["Parameters"][name]["Default"] == 0


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_images_are_where_lambda_allows_them(template: dict[str, Any], function: Function):
    """SnapStart needs a small disk and no provisioned instances, and is off by default."""
    facts = _facts(template, function)
    if "SnapStart" not in facts:
        assert function.name not in ANSWERING or function.disk_mb > 512
        return
    condition, *choice = facts["SnapStart"]["ApplyOn"]["Fn::If"]
    wanted, kept = template["Conditions"][condition]["Fn::And"]

    assert facts["EphemeralStorage"]["Size"] <= 512
    assert choice == ["PublishedVersions", "None"]
    assert wanted == {"Fn::Equals": [{"Ref": f"{function.logical}SnapStart"}, "on"]}
    assert kept == {"Fn::Equals": [{"Ref": f"{function.logical}Provisioned"}, 0]}
    assert template["Parameters"][f"{function.logical}SnapStart"]["Default"] == "off"


def test_enough_functions_can_start_from_images():
    """All but the function that reads documents, which needs a large disk."""
    assert [f.name for f in FUNCTIONS if f.can_snap] == ["records", "texts", "pictures"]
