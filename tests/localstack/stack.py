"""The part of the deployment that LocalStack can make: the data, and all but the functions."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.deploying.account import Target
from infra.deploying.artifacts import ensure_bucket, upload_data_template, upload_package
from infra.deploying.stack import Change, Stack
from infra.template.names import SECRET_ARN

UNPROVED = ("AWS::Serverless::", "AWS::Lambda::", "AWS::ApiGateway::")
"""Types that need Docker to run, or the API that calls what does."""


def without_functions(template: dict[str, Any]) -> dict[str, Any]:
    """Leave functions and API out, and everything that refers to them."""
    left = dict(template["Resources"])
    gone: set[str] = set()
    new = {name for name, part in left.items() if part["Type"].startswith(UNPROVED)}
    while new:
        gone |= new
        left = {name: part for name, part in left.items() if name not in gone}
        new = {name for name, part in left.items() if references(part) & gone}
    outputs = {
        name: part
        for name, part in template["Outputs"].items()
        if not references(part) & gone and "Condition" not in part
    }
    kept = {key: value for key, value in template.items() if key != "Transform"}
    return {**kept, "Resources": left, "Outputs": outputs}


def references(part: Any) -> set[str]:
    """Name the resources and parameters that a part of the template refers to."""
    text = json.dumps(part)
    found = set(re.findall(r'"Ref": "(\w+)"', text))
    found |= set(re.findall(r'"Fn::GetAtt": \["(\w+)"', text))
    found |= set(re.findall(r"\$\{(\w+)[.}]", text))
    depends = part.get("DependsOn", [])
    return found | set([depends] if isinstance(depends, str) else depends)


@dataclass
class Made:
    """Stacks of a stage that were made by change sets."""

    target: Target
    """Where they are."""
    stacks: tuple[Stack, Stack]
    """Of the data and of the service."""
    templates: tuple[dict[str, Any], dict[str, Any]]
    """From what they were made."""
    changes: tuple[list[Change], list[Change]]
    """What the change sets said they would do."""

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """Resources of both templates."""
        return {**self.templates[0]["Resources"], **self.templates[1]["Resources"]}

    def client(self, service: str) -> Any:
        """Make a client of its account."""
        return self.target.client(service)

    def resources(self) -> dict[str, dict[str, Any]]:
        """Describe every resource of both stacks, by its name in the template."""
        client = self.client("cloudformation")
        pages = client.get_paginator("list_stack_resources")
        return {
            entry["LogicalResourceId"]: entry
            for stack in self.stacks
            for page in pages.paginate(StackName=stack.name)
            for entry in page["StackResourceSummaries"]
        }


def write_package(folder: Path, data: dict[str, Any], service: dict[str, Any]) -> None:
    """Write a package without functions."""
    with zipfile.ZipFile(folder / "deployment.zip", "w") as archive:
        archive.writestr("app.py", "app = None\n")
    (folder / "data.json").write_text(json.dumps(data), "utf-8")
    (folder / "sam.json").write_text(json.dumps(service), "utf-8")


def make(target: Target, data: dict[str, Any], template: dict[str, Any], folder: Path) -> Made:
    """Make the stacks of a stage with the code that deploys.

    Args:
        target: an account without it.
        data: template of the data.
        template: of the whole service.
        folder: takes the package that is uploaded.
    """

    def say(line: str) -> None:
        """Say nothing."""

    part = without_functions(template)
    write_package(folder, data, part)
    ensure_bucket(target, say)
    uploaded = upload_data_template(target, folder), upload_package(target, folder, {}, say)
    given, changes = {"Name": target.stack}, []
    stacks = tuple(Stack(target, n, say, 0.2) for n in (target.data_stack, target.stack))
    for stack, one in zip(stacks, uploaded, strict=True):
        assert not stack.check()
        name = stack.propose(one, given, exists=False)
        assert name is not None
        changes.append(stack.changes(name))
        stack.execute(name)
        given |= {SECRET_ARN: stack.outputs()[SECRET_ARN]}
    return Made(target, (stacks[0], stacks[1]), (data, part), (changes[0], changes[1]))
