"""The templates fit into the quotas of AWS, whatever the parameters, or are refused before."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from infra import deploy as command
from infra.deploying import artifacts
from infra.deploying.account import DeployError, Target
from infra.deploying.quotas import QUOTAS, check_quotas, sizes
from tests.infra.deploying.conftest import TEMPLATE, write_package
from tests.infra.template.conftest import data, template

__all__ = ["data", "template"]

HEADROOM = 0.75
"""The part of a quota that the templates may use, so that the next feature still fits."""
ORIGINS = ",".join(f"https://shop-{number}.example" for number in range(200))


def _defaults(templates: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return every parameter with its default, as a first deployment has them."""
    return {
        name: str(facts.get("Default", ""))
        for template in templates.values()
        for name, facts in template["Parameters"].items()
    }


@pytest.fixture(scope="module")
def templates(template: dict[str, Any], data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Both templates by name."""
    return {"sam.json": template, "data.json": data}


def test_templates_leave_room_in_every_quota(templates: dict[str, dict[str, Any]]) -> None:
    """Every AWS quota is measured on the template, and at most a part of it is used."""
    measured = set()
    parameters = _defaults(templates)
    # As long as the deployment lets a stage and its host name be.
    parameters |= {"Name": "presage-" + "x" * 15, "Domain": "x" * 253}
    for quota, resource, size in sizes(templates, parameters):
        measured.add(quota.noun)
        if "mapping" not in quota.noun:
            assert size <= HEADROOM * quota.limit, (quota.noun, resource)

    assert measured == {quota.noun for quota in QUOTAS}


def test_long_parameters_are_refused_with_the_remedy(
    templates: dict[str, dict[str, Any]],
) -> None:
    """Origins too long for a function's environment are refused before anything is created."""
    parameters = _defaults(templates) | {"AllowedOrigins": ORIGINS}

    with pytest.raises(DeployError, match=r"AWS allows 4096: shorten AllowedOrigins"):
        check_quotas(templates, parameters)


def test_wide_roles_and_large_apis_are_refused(templates: dict[str, dict[str, Any]]) -> None:
    """Too large policies and APIs are detected in the template."""
    wide = copy.deepcopy(templates)
    resources = wide["sam.json"]["Resources"]
    policy = resources["SweepRole"]["Properties"]["Policies"][0]["PolicyDocument"]
    policy["Statement"] *= 4
    with pytest.raises(DeployError, match=r"inline policies of SweepRole: .* AWS allows 10240"):
        check_quotas(wide, _defaults(wide))

    large = copy.deepcopy(templates)
    paths = large["sam.json"]["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    paths |= {f"/v3/{number}/all": paths["/v2/health"] for number in range(100)}
    with pytest.raises(DeployError, match=r"beginnings of RestAPI: .* AWS allows 300"):
        check_quotas(large, _defaults(large))


def test_a_deployment_checks_the_quotas(target: Target, tmp_path: Path, models: Path) -> None:
    """The command refuses a template that does not fit, and creates nothing."""
    variables = {"PRESAGE_ALLOW_ORIGINS": {"Ref": "AllowedOrigins"}}
    template = copy.deepcopy(TEMPLATE)
    template["Parameters"]["AllowedOrigins"] = {"Type": "String", "Default": ORIGINS}
    template["Resources"]["Api"] = {
        "Type": "AWS::Serverless::Function",
        "Properties": {"Environment": {"Variables": variables}},
    }
    package = write_package(tmp_path / "package", template)
    words = ["deploy", "--stage", "test", "--yes", "--package", str(package)]

    with pytest.raises(DeployError, match="environment variables of Api"):
        command.deploy(command._parser().parse_args([*words, "--models", str(models)]), target)

    assert not artifacts.has_bucket(target, target.artifact_bucket)
