"""The deployer's policy has what AWS asks for, and no rights on others' resources."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from infra.deploying.deployer_policy import CHECKED, policy
from tests.infra.template.conftest import data, template

__all__ = ["data", "template"]
FILE = Path(__file__).parents[3] / "docs" / "deployer.json"
MAX_POLICY = 6_144
"""Characters of a managed policy, without spaces."""
MADE_OF = {
    "AWS::Serverless::Function": (
        "AWS::CodeDeploy::Application",
        "AWS::CodeDeploy::DeploymentGroup",
        "AWS::Lambda::Alias",
        "AWS::Lambda::Function",
        "AWS::Lambda::Version",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Permission",
        "AWS::Events::Rule",
    ),
    "AWS::Serverless::Api": (
        "AWS::ApiGateway::RestApi",
        "AWS::ApiGateway::Deployment",
        "AWS::ApiGateway::Stage",
    ),
}
"""What SAM makes of its types."""
NOT_OURS = (
    "billing:*",  # of budgets over another billing view
    "ec2:*",  # networks, file systems, streams and other buckets, of which we have none
    "elasticfilesystem:*",
    "firehose:*",
    "kinesis:*",
    "kms:ListAliases",  # keys of one's own
    "kms:RevokeGrant",
    "kms:GenerateDataKey",
    "s3files:*",
    "s3tables:*",
    "iam:*RolePermissionsBoundary",
    "lambda:GetLayerVersion",
    "lambda:*CodeSigningConfig",
    "lambda:PassCapacityProvider",
    "amplify:*",  # web ACLs of other services than API Gateway
    "apprunner:*",
    "appsync:*",
    "bedrock-agentcore:*",
    "cognito-idp:*",
    "elasticloadbalancing:*",
    "payments:*",  # paid rules of other vendors
)


LINKED = {"arn:aws:iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*"}
"""The role that AWS makes for the first domain of an account."""


def actions() -> list[str]:
    """List every action that the policy allows."""
    return [action for statement in policy()["Statement"] for action in statement["Action"]]


def is_in(action: str, patterns: Any) -> bool:
    """Return whether an action is one of these."""
    return any(fnmatchcase(action, pattern) for pattern in patterns)


def test_every_kind_of_resource_can_be_made(
    template: dict[str, Any],
    data: dict[str, Any],
) -> None:
    """The policy allows AWS's documented actions for every resource type."""
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # half a second

    kinds = {r["Type"] for part in (template, data) for r in part["Resources"].values()}
    kinds = {made for kind in kinds for made in MADE_OF.get(kind, (kind,))}
    lacking = {}
    for kind in sorted(kinds):
        handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema["handlers"]
        needed = {
            action
            for deed in ("create", "read", "update", "delete")
            for action in handlers.get(deed, {}).get("permissions", ())
        }
        left = {a for a in needed if not is_in(a, NOT_OURS) and not is_in(a, actions())}
        lacking |= {kind: sorted(left)} if left else {}

    assert lacking == {}


def test_nothing_of_others_may_be_changed() -> None:
    """An action on all resources is read-only, or cannot be limited in AWS."""
    harmless = ("Get", "List", "Describe", "Validate", "Simulate")
    for statement in policy()["Statement"]:
        if "*" in statement["Resource"] and "Condition" not in statement:
            changing = {a for a in statement["Action"] if not a.split(":")[1].startswith(harmless)}
            assert changing == {
                "lambda:*EventSourceMapping*",
                "lambda:TagResource",
                "lambda:UntagResource",
                "sns:Unsubscribe",
            }
        else:
            own = [r for r in statement["Resource"] if "presage-" in r or "SigningKey-" in r]
            others = set(statement["Resource"]) - set(own)
            assert all(
                ":apigateway:" in r or ":transform/" in r or r == "*" for r in others - LINKED
            )


def test_first_domain_of_an_account_can_be_mapped() -> None:
    """API Gateway's own service-linked role may be created, and no other."""
    [found] = [s for s in policy()["Statement"] if "iam:CreateServiceLinkedRole" in s["Action"]]

    assert set(found["Resource"]) == LINKED
    assert found["Condition"] == {
        "StringEquals": {"iam:AWSServiceName": "ops.apigateway.amazonaws.com"}
    }


@pytest.mark.parametrize("action", CHECKED)
def test_what_is_asked_beforehand_is_allowed(action: str) -> None:
    """A deployer with this policy passes the check of rights."""
    assert is_in(action, actions())


def test_policy_can_be_pasted() -> None:
    """The documented policy is the one of the code, and short enough for AWS."""
    shown = json.loads(FILE.read_text(encoding="utf-8"))

    assert shown == policy()
    assert len("".join(json.dumps(policy()).split())) <= MAX_POLICY
