"""Builds the policy document with the rights that the deployer needs.

Where AWS can restrict an action to names, only names that begin with `presage-` are allowed.
docs/deployer.json is the policy, and a test compares it with the rights that AWS documents for each
kind of resource.
"""

from __future__ import annotations

from typing import Any

_ALL = "arn:aws:{}:*:*:{}"
# Services in which every action is allowed on resources of this project.
_OWN: dict[str, tuple[str, ...]] = {
    "cloudformation": (
        _ALL.format("cloudformation", "stack/presage-*"),
        "arn:aws:cloudformation:*:aws:transform/Serverless-2016-10-31",
    ),
    "s3": ("arn:aws:s3:::presage-*",),
    "dynamodb": (_ALL.format("dynamodb", "table/presage-*"),),
    "sqs": (_ALL.format("sqs", "presage-*"),),
    "secretsmanager": (_ALL.format("secretsmanager", "secret:SigningKey-*"),),
    "lambda": (_ALL.format("lambda", "function:presage-*"),),
    # CodeDeploy shifts calls to a new version of a function.
    "codedeploy": (
        _ALL.format("codedeploy", "application:presage-*"),
        _ALL.format("codedeploy", "deploymentgroup:presage-*"),
    ),
    "sns": (_ALL.format("sns", "presage-*"),),
    "logs": (_ALL.format("logs", "log-group:/presage/presage-*"),),
    "cloudwatch": (
        _ALL.format("cloudwatch", "alarm:presage-*"),
        "arn:aws:cloudwatch::*:dashboard/presage-*",
    ),
    "events": (_ALL.format("events", "rule/presage-*"),),
    "budgets": ("arn:aws:budgets::*:budget/presage-*",),
    # The ARN of an API does not contain the project's name.
    "apigateway": tuple(
        f"arn:aws:apigateway:*::/{path}"
        for path in ("account", "domainnames*", "restapis*", "tags/*")
    ),
    # Associates the web ACL with the stage of an API.
    "wafv2": (
        _ALL.format("wafv2", "regional/webacl/presage-*"),
        "arn:aws:apigateway:*::/restapis/*/stages/*",
    ),
}
_ROLE_ACTIONS = (
    "AttachRolePolicy",
    "CreateRole",
    "DeleteRole",
    "DeleteRolePolicy",
    "DetachRolePolicy",
    "GetRole",
    "GetRolePolicy",
    "ListAttachedRolePolicies",
    "ListRolePolicies",
    "PutRolePolicy",
    "TagRole",
    "UntagRole",
    "UpdateAssumeRolePolicy",
    "UpdateRole",
    "UpdateRoleDescription",
)
# Actions that AWS cannot limit to names, and actions that only read.
_ANYWHERE = (
    "cloudformation:ListStacks",
    "cloudformation:ValidateTemplate",
    "cloudwatch:DescribeAlarms",
    "codedeploy:GetDeploymentConfig",
    "dynamodb:ListTables",
    "events:ListRules",
    "iam:GetRole",
    "iam:SimulatePrincipalPolicy",
    "lambda:*EventSourceMapping*",
    "lambda:GetAccountSettings",
    "lambda:ListFunctions",
    "lambda:ListTags",
    "lambda:TagResource",
    "lambda:UntagResource",
    "logs:DescribeLogGroups",
    "secretsmanager:GetRandomPassword",
    "secretsmanager:ListSecrets",
    "sns:ListTopics",
    "sns:Unsubscribe",
    "sqs:ListQueues",
)
_ROLES = "arn:aws:iam::*:role/presage-*"
_DOMAINS = "ops.apigateway.amazonaws.com"
# Rights that are checked before a deployment, one of each kind, each with a resource.
CHECKED = {
    "cloudformation:CreateChangeSet": "arn:aws:cloudformation:{here}:stack/{stack}/*",
    "s3:CreateBucket": "arn:aws:s3:::{stack}-data",
    "dynamodb:CreateTable": "arn:aws:dynamodb:{here}:table/{stack}-accounts",
    "sqs:CreateQueue": "arn:aws:sqs:{here}:{stack}-ingest",
    "secretsmanager:CreateSecret": "arn:aws:secretsmanager:{here}:secret:SigningKey-a",
    "lambda:CreateFunction": "arn:aws:lambda:{here}:function:{stack}-api",
    "lambda:CreateEventSourceMapping": "*",
    "apigateway:POST": "arn:aws:apigateway:{region}::/restapis",
    "logs:CreateLogGroup": "arn:aws:logs:{here}:log-group:/presage/{stack}/api",
    "cloudwatch:PutMetricAlarm": "arn:aws:cloudwatch:{here}:alarm:{stack}-server-errors",
    "events:PutRule": "arn:aws:events:{here}:rule/{stack}-sweep",
    "iam:CreateRole": "arn:aws:iam::{account}:role/{stack}-api",
    "iam:PutRolePolicy": "arn:aws:iam::{account}:role/{stack}-api",
    "iam:PassRole": "arn:aws:iam::{account}:role/{stack}-api",
}


def policy() -> dict[str, Any]:
    """Return the policy document."""
    passed = [f"{service}.amazonaws.com" for service in ("apigateway", "codedeploy", "lambda")]
    through = {"StringLike": {"kms:ViaService": "dynamodb.*.amazonaws.com"}}
    keys = [f"kms:{action}" for action in ("CreateGrant", "Decrypt", "DescribeKey", "Encrypt")]
    own = [
        _allow(service.capitalize(), [f"{service}:*"], list(resources))
        for service, resources in _OWN.items()
    ]
    return {
        "Version": "2012-10-17",
        "Statement": [
            *own,
            _allow("Roles", [f"iam:{action}" for action in _ROLE_ACTIONS], [_ROLES]),
            _allow(
                "PassRoles",
                ["iam:PassRole"],
                [_ROLES],
                {"StringEquals": {"iam:PassedToService": passed}},
            ),
            _allow("TableKeys", keys, ["*"], through),
            # AWS makes this role for the account's first custom domain, with the rights of the
            # user.
            _allow(
                "DomainRole",
                ["iam:CreateServiceLinkedRole"],
                [f"arn:aws:iam::*:role/aws-service-role/{_DOMAINS}/*"],
                {"StringEquals": {"iam:AWSServiceName": _DOMAINS}},
            ),
            _allow("Anywhere", list(_ANYWHERE), ["*"]),
        ],
    }


def _allow(
    name: str, actions: list[str], resources: list[str], condition: dict[str, Any] | None = None
) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "Sid": name,
        "Effect": "Allow",
        "Action": actions,
        "Resource": resources,
    }
    return statement if condition is None else {**statement, "Condition": condition}
