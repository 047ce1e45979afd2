"""Versions of functions: aliases, gradual updates, SnapStart and provisioned concurrency.

The deployment writes a digest into each function (infra/deploying/artifacts.py). When the digest
changes, SAM publishes a new version and points the alias to it.
"""

from __future__ import annotations

from infra.template.functions import ALIAS, ANSWERING, FUNCTIONS, Function
from infra.template.names import Part, camel, ref

# Parameter: how CodeDeploy shifts calls to a new version.
SHIFTING = "Shifting"
# Configurations of CodeDeploy; slower ones would take longer than a deployment may wait.
SHIFTS = (
    "AllAtOnce",
    "Canary10Percent5Minutes",
    "Canary10Percent10Minutes",
    "Canary10Percent15Minutes",
    "Linear10PercentEvery1Minute",
    "Linear10PercentEvery2Minutes",
    "Linear10PercentEvery3Minutes",
)
ON, OFF = "on", "off"
_NONE = ref("AWS::NoValue")
_BY_STEPS = "ShiftsByStep"


def snap_id(function: Function) -> str:
    """Return the name of the parameter that switches SnapStart on."""
    return f"{function.logical}SnapStart"


def provisioned_id(function: Function) -> str:
    """Return the name of the parameter for a function's provisioned concurrency."""
    return f"{function.logical}Provisioned"


def versions(function: Function) -> Part:
    """Return the properties of a function that concern its versions."""
    found: Part = {"AutoPublishAlias": ALIAS}
    if function.name not in ANSWERING:
        return found
    alarms = ("server-errors", f"{function.short}-errors")
    watched = [ref(f"{camel(name)}Alarm") for name in alarms]
    # A deployment does not start while one of its alarms is on.
    found["DeploymentPreference"] = {
        "Type": ref(SHIFTING),
        "Alarms": {"Fn::If": [_BY_STEPS, watched, [_NONE]]},
    }
    ready = {"ProvisionedConcurrentExecutions": ref(provisioned_id(function))}
    found["ProvisionedConcurrencyConfig"] = {"Fn::If": [_is_provisioned(function), ready, _NONE]}
    if function.can_snap:
        chosen = {"Fn::If": [_snaps(function), "PublishedVersions", "None"]}
        found["SnapStart"] = {"ApplyOn": chosen}
    return found


def version_parameters() -> Part:
    """Return the parameters of gradual updates, SnapStart and provisioned concurrency."""
    found: Part = {
        SHIFTING: {
            "Type": "String",
            "Description": "How calls move to a new version of a function, as CodeDeploy calls it; "
            "only AllAtOnce may begin while an alarm is on, and watches none.",
            "Default": "Canary10Percent5Minutes",
            "AllowedValues": list(SHIFTS),
        }
    }
    for function in (f for f in FUNCTIONS if f.name in ANSWERING):
        found[provisioned_id(function)] = {
            "Type": "Number",
            "Description": f"Processes of {function.short} that are kept ready, at a price by the "
            "hour; 0 for none.",
            "Default": 0,
            "MinValue": 0,
        }
        if function.can_snap:
            found[snap_id(function)] = {
                "Type": "String",
                "Description": f"Whether {function.short} starts from an image of its memory, at a "
                "price by the month and by the start; not while some are kept ready.",
                "Default": OFF,
                "AllowedValues": [OFF, ON],
            }
    return found


def version_conditions() -> Part:
    """Return the conditions that depend on the parameters of versions."""
    at_once = {"Fn::Equals": [ref(SHIFTING), SHIFTS[0]]}
    found: Part = {_BY_STEPS: {"Fn::Not": [at_once]}}
    for function in (f for f in FUNCTIONS if f.name in ANSWERING):
        none = {"Fn::Equals": [ref(provisioned_id(function)), 0]}
        found[_is_provisioned(function)] = {"Fn::Not": [none]}
        if function.can_snap:
            # Lambda does not allow both at the same time.
            on = {"Fn::Equals": [ref(snap_id(function)), ON]}
            found[_snaps(function)] = {"Fn::And": [on, none]}
    return found


def _is_provisioned(function: Function) -> str:
    return f"Has{provisioned_id(function)}"


def _snaps(function: Function) -> str:
    return f"Has{snap_id(function)}"
