"""What is merged into the template that `chalice package` writes.

Chalice takes the runtime from the Python that builds and knows one processor; here both are set
for each function. infra/template describes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from infra.packaging.errors import PackageError
from infra.packaging.target import RUNTIME, Architecture
from infra.template.functions import FUNCTIONS

LOGICAL_NAMES = tuple(function.logical for function in FUNCTIONS)
"""Of all functions of app.py, as Chalice makes them; a test compares them."""
FUNCTION_TYPE = "AWS::Serverless::Function"

Template = Mapping[str, Any]


def overrides(
    architecture: Architecture, functions: Iterable[str] = LOGICAL_NAMES
) -> dict[str, Any]:
    """Return the template to merge."""
    wanted = wanted_properties(architecture)
    return {"Resources": {name: {"Properties": dict(wanted)} for name in functions}}


def wanted_properties(architecture: Architecture) -> dict[str, Any]:
    """Return the properties that every function must have."""
    return {"Runtime": RUNTIME, "Architectures": [architecture.name]}


def check(template: Template, architecture: Architecture) -> None:
    """Check that every function of a template runs what the package is built for.

    Raises:
        PackageError: one does not, or the template to merge names one that is not there.
    """
    resources = template["Resources"]
    unknown = [name for name, resource in resources.items() if "Type" not in resource]
    if unknown:
        raise PackageError(
            f"app.py has no function {', '.join(unknown)}: see infra/template/functions.py"
        )
    wanted = wanted_properties(architecture)
    for name, resource in resources.items():
        if resource["Type"] == FUNCTION_TYPE:
            found = {key: resource["Properties"].get(key) for key in wanted}
            if found != wanted:
                raise PackageError(
                    f"{name} would run on {found} instead of {wanted}: "
                    f"add it to infra/template/functions.py"
                )
