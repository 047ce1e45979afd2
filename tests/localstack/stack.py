"""The part of the deployment's template that LocalStack can make: everything but the functions."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.deploying.account import Target
from infra.deploying.artifacts import ensure_bucket, upload_package
from infra.deploying.stack import Change, Stack

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
    """A stack that was made by a change set."""

    target: Target
    """Where it is."""
    stack: Stack
    """How it is changed."""
    template: dict[str, Any]
    """From what it was made."""
    changes: list[Change]
    """What the change set said it would do."""
    told: list[str]
    """What was shown meanwhile."""

    def client(self, service: str) -> Any:
        """Make a client of its account."""
        return self.target.client(service)

    def resources(self) -> dict[str, dict[str, Any]]:
        """Describe every resource, by its name in the template."""
        client = self.client("cloudformation")
        pages = client.get_paginator("list_stack_resources")
        return {
            entry["LogicalResourceId"]: entry
            for page in pages.paginate(StackName=self.target.stack)
            for entry in page["StackResourceSummaries"]
        }


def make(target: Target, template: dict[str, Any], folder: Path) -> Made:
    """Make a stack with the code that deploys.

    Args:
        target: an account without it.
        template: of the whole deployment.
        folder: takes the package that is uploaded.
    """
    told: list[str] = []
    part = without_functions(template)
    with zipfile.ZipFile(folder / "deployment.zip", "w") as archive:
        archive.writestr("app.py", "app = None\n")
    (folder / "sam.json").write_text(json.dumps(part), "utf-8")
    stack = Stack(target, told.append, pause_seconds=0.2)
    assert not stack.check()
    ensure_bucket(target, told.append)
    url = upload_package(target, folder, told.append)
    name = stack.propose(url, {"Name": target.stack}, exists=False)
    assert name is not None
    changes = stack.changes(name)
    stack.execute(name)
    return Made(target, stack, part, changes, told)
