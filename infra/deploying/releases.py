"""Computes a digest of each function's version, so that only a change publishes a new version.

SAM publishes a version when this digest changes, and writes the digest into the function's
description, because Lambda refuses to publish a version that does not differ from the previous one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from infra.template.functions import FUNCTION_TYPE

# Property whose change makes SAM publish a version.
DIGEST = "AutoPublishCodeSha256"
_OF_ALIAS = ("DeploymentPreference", "ProvisionedConcurrencyConfig", "ReservedConcurrentExecutions")
_OF_EVENTS = "Events"
_NAMES = re.compile(r'"(?:Ref|Fn::If)": \[?"(\w+)"|\$\{(\w+)\}')


def mark_releases(template: dict[str, Any], parameters: Mapping[str, str]) -> None:
    """Write into each function with an alias a digest of everything that its version depends on.

    These are the function's code, its properties, and the values of the parameters that the
    properties refer to.

    Args:
        template: template of a package, whose code is in the bucket under its digest; changed in
            place.
        parameters: parameters of the deployment, including defaults.
    """
    conditions = template.get("Conditions", {})
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == FUNCTION_TYPE and "AutoPublishAlias" in properties:
            left = {
                name: value
                for name, value in properties.items()
                if name not in (*_OF_ALIAS, _OF_EVENTS, DIGEST)
            }
            content = [left, _values(left, conditions, parameters)]
            text = json.dumps(content, sort_keys=True)
            properties[DIGEST] = hashlib.sha256(text.encode()).hexdigest()


def _values(
    part: Any, conditions: Mapping[str, Any], parameters: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of the parameters that a part uses, directly or in its conditions."""
    named = {name for pair in _NAMES.findall(json.dumps(part)) for name in pair if name}
    found = {name: parameters[name] for name in named if name in parameters}
    for name in named & set(conditions):
        found |= _values(conditions[name], conditions, parameters)
    return found
