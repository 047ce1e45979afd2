"""The gateway's own limits: a throttle for each expensive method, and an optional web ACL."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.accounts.rates import DOCUMENTS, PICTURES, RATES, TOKENS, UPLOADS
from infra.template.parameters import parameters
from infra.template.routing import routes
from infra.template.throttles import THROTTLES, throttled_methods

PATCHES = 80
"""Changes of a stage that API Gateway takes in one call; each throttle is two."""


def _settings(template: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the settings of the stage by method and path."""
    found = template["Resources"]["RestAPI"]["Properties"]["MethodSettings"]
    return {(one["HttpMethod"], one["ResourcePath"].replace("~1", "/")): one for one in found}


def test_expensive_methods_have_throttles(template: dict[str, Any]) -> None:
    """Tokens, documents, images and files have rates of their own; all else shares the general."""
    settings = _settings(template)
    names = {cost: name for cost, (name, _) in THROTTLES.items()}
    expected = {
        ("POST", "/v2/oauth2/token"): TOKENS,
        ("POST", "/v1/oauth2/token"): TOKENS,
        ("POST", "/v2/vision/ocr"): DOCUMENTS,
        ("POST", "/v1/vision/predict"): PICTURES,
        ("POST", "/v2/vision/detect"): PICTURES,
        ("PUT", "/v2/language/datasets/{dataset_id}/upload"): UPLOADS,
        ("POST", "/v2/language/batches"): UPLOADS,
    }
    for (method, path), cost in expected.items():
        one = settings[method, f"/{path}"]
        rate = {"Ref": names[cost]}
        assert (one["ThrottlingRateLimit"], one["ThrottlingBurstLimit"]) == (rate, rate), path
    assert settings["*", "/*"]["ThrottlingRateLimit"] == {"Ref": "RequestsPerSecond"}
    assert ("POST", "//v2/language/intent") not in settings


def test_throttles_name_methods_that_exist(template: dict[str, Any]) -> None:
    """A throttle names an existing method, with its path encoded for CloudFormation."""
    known = {(method, path) for method, path, _ in routes()}
    raw = template["Resources"]["RestAPI"]["Properties"]["MethodSettings"]

    assert {(method, path) for method, path, _ in throttled_methods()} <= known
    assert all(one["ResourcePath"].count("/") == 1 for one in raw)
    assert sum(len(one) - 2 for one in raw) <= PATCHES


def test_no_account_fills_a_throttle() -> None:
    """A method's throttle is twice the largest plan's rate, and less than the stage's."""
    known = parameters()
    for cost, (name, default) in THROTTLES.items():
        largest = max(rates[cost] for rates in RATES.values())
        assert 2 * largest <= default <= known["RequestsPerSecond"]["Default"], cost
        assert known[name]["Default"] == default


def test_web_acl_counts_calls_by_address(template: dict[str, Any]) -> None:
    """One parameter adds a web ACL with one rule; without it there is none."""
    resources = template["Resources"]
    acl, association = resources["AddressLimit"], resources["AddressLimitAssociation"]
    assert template["Parameters"]["WebAcl"]["Default"] == 0
    condition = template["Conditions"][acl["Condition"]]
    assert condition == {"Fn::Not": [{"Fn::Equals": [{"Ref": "WebAcl"}, 0]}]}
    assert association["Condition"] == acl["Condition"]
    [rule] = acl["Properties"]["Rules"]
    counted = rule["Statement"]["RateBasedStatement"]
    assert counted == {"AggregateKeyType": "IP", "Limit": {"Ref": "WebAcl"}}
    assert (acl["Properties"]["Scope"], rule["Action"]) == ("REGIONAL", {"Block": {}})
    # Samples hold headers of calls, and with them tokens.
    assert rule["VisibilityConfig"]["SampledRequestsEnabled"] is False
    text, names = association["Properties"]["ResourceArn"]["Fn::Sub"]
    assert text.endswith("::/restapis/${Api}/stages/${Stage}")
    assert names == {"Api": {"Ref": "RestAPI"}, "Stage": {"Ref": "RestAPI.Stage"}}
