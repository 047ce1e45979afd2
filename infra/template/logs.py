"""Log groups with a retention time, and API Gateway's permission to write logs."""

from __future__ import annotations

from infra.template.functions import FUNCTIONS, Function
from infra.template.names import Part, attribute, ref, sub

ACCESS_LOG = "AccessLogGroup"
# Logical names.
GATEWAY_ACCOUNT = "GatewayAccount"
_GATEWAY_ROLE = "GatewayLogRole"


def log_group_id(function: Function) -> str:
    """Return the logical name of a function's log group."""
    return f"{function.logical}LogGroup"


def logs() -> Part:
    """Return the log groups, and the role that allows API Gateway to write its log."""
    parts = {log_group_id(f): _group(f"/presage/${{Name}}/{f.short}") for f in FUNCTIONS}
    managed = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
    trusted = {
        "Effect": "Allow",
        "Principal": {"Service": "apigateway.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    return {
        **parts,
        ACCESS_LOG: _group("/presage/${Name}/access"),
        _GATEWAY_ROLE: {
            "Type": "AWS::IAM::Role",
            "Condition": "SetsGatewayRole",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trusted]},
                "ManagedPolicyArns": [sub(f"arn:${{AWS::Partition}}:iam::aws:policy/{managed}")],
            },
        },
        # The role is set for the whole account and region, where other stacks use it, so it is not
        # deleted.
        GATEWAY_ACCOUNT: {
            "Type": "AWS::ApiGateway::Account",
            "Condition": "SetsGatewayRole",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"CloudWatchRoleArn": attribute(_GATEWAY_ROLE)},
        },
    }


def _group(name: str) -> Part:
    return {
        "Type": "AWS::Logs::LogGroup",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": {"LogGroupName": sub(name), "RetentionInDays": ref("LogDays")},
    }
