"""Every route is answered by the function that is configured for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

from chalicelib.container import Container
from chalicelib.routes import OPERATIONS
from chalicelib.web.operations.operation import Operation
from infra.template.functions import ANSWERING, API, FUNCTIONS, PICTURES, RECORDS, TEXTS
from infra.template.routing import RULES, function_of, routes

ENGINES = {"predictions": {TEXTS}, "picture_predictions": {PICTURES}, "ocr": {API}}
"""Functions that may answer what asks a service of the container for an engine's work."""
LARGE = {API}
"""Functions with the disk and memory for the files of datasets."""
FILES = ("data", "path")
"""Fields by which such files come."""


def _names(view: Callable[..., object]) -> Iterator[str]:
    """Yield every name that a view, and what it calls in its own module, looks up."""
    seen, waiting = set(), [view]
    while waiting:
        found = waiting.pop()
        if not isinstance(found, FunctionType) or found in seen:
            continue
        seen.add(found)
        codes = [found.__code__]
        for code in codes:
            codes += [part for part in code.co_consts if hasattr(part, "co_names")]
            yield from code.co_names
            of_module = (found.__globals__.get(name) for name in code.co_names)
            waiting += [f for f in of_module if getattr(f, "__module__", "") == view.__module__]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_engines_are_where_they_are_asked_for(operation: Operation):
    """Routes that use an engine belong to a function of its family."""
    needed = [ENGINES[name] for name in _names(operation.view) if name in ENGINES]
    found = {function_of(operation.method, path) for _, path in operation.served_paths()}

    for allowed in needed:
        assert found <= allowed, f"add a rule to infra/template/routing.py: {found} has no engine"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_files_of_datasets_go_where_they_fit(operation: Operation):
    """Routes for large files belong to functions with a large disk and much memory."""
    fields = set(getattr(operation.form, "__struct_fields__", ())) | set(operation.files)
    found = {function_of(operation.method, path) for _, path in operation.served_paths()}

    if fields & set(FILES):
        assert found <= LARGE, f"add a rule to infra/template/routing.py: {found} is small"


def test_services_of_engines_are_known():
    """The service names searched for exist in the container."""
    assert set(ENGINES) <= set(vars(Container))


def test_every_rule_is_needed():
    """Every routing rule matches a route, and every function has one."""
    called = [f"{method} {path}" for method, path, _ in routes()]

    for _, rule in RULES:
        assert any(re.fullmatch(rule, one) for one in called), rule
    assert {function for _, _, function in routes()} == set(ANSWERING)


def test_gateway_calls_the_function_of_the_rule(template: dict[str, Any]):
    """Each method of each path is handed to its function, OPTIONS to that of the records."""
    logical = {function.name: function.logical for function in FUNCTIONS}
    paths = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    wanted = {(path, method.lower()): function for method, path, function in routes()}
    wanted |= {(path, "options"): RECORDS for _, path, _ in routes()}
    found = {
        (path, method): facts["x-amazon-apigateway-integration"]
        for path, methods in paths.items()
        for method, facts in methods.items()
    }

    assert set(found) == set(wanted)
    for key, integration in found.items():
        text, names = integration["uri"]["Fn::Sub"]
        assert text.endswith("/functions/${Called}/invocations")
        assert names == {"Called": {"Ref": f"{logical[wanted[key]]}.Alias"}}
        assert (integration["type"], integration["httpMethod"]) == ("aws_proxy", "POST")


def test_gateway_may_call_before_it_does(template: dict[str, Any]):
    """The permission to call a function is created before its routes."""
    parts = template["Resources"]
    permissions = {
        name: part["Properties"]
        for name, part in parts.items()
        if part["Type"] == "AWS::Lambda::Permission" and name in parts["RestAPI"]["DependsOn"]
    }

    assert {facts["FunctionName"]["Ref"] for facts in permissions.values()} == {
        f"{function.logical}.Alias" for function in FUNCTIONS if function.name in ANSWERING
    }
    for facts in permissions.values():
        assert facts["Principal"] == "apigateway.amazonaws.com"
        assert facts["SourceArn"]["Fn::Sub"].endswith("${AWS::AccountId}:*/api/*")
        assert "RestAPI" not in str(facts)
