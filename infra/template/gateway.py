"""The REST API: the gateway's own answers, its limits, its access log, the custom domain.

The gateway's own answers have fixed bodies, which contain nothing from the request. The log has
routes, never paths, because a path may contain a token.
"""

from __future__ import annotations

import json

from chalicelib.errors import RouteNotFound, ServiceError
from chalicelib.web.http.cors import OPEN_HEADERS
from chalicelib.web.http.responses import INTERNAL
from infra.template.alarms import TOPIC
from infra.template.functions import ANSWERING, FUNCTIONS, RECORDS
from infra.template.logs import ACCESS_LOG, GATEWAY_ACCOUNT
from infra.template.names import API_STAGE, HAS_TRACING, Part, attribute, ref, sub
from infra.template.routing import routes
from infra.template.throttles import method_settings

# Logical name of Chalice's REST API.
API = "RestAPI"
_HEADER = "gatewayresponse.header."
_NOT_FOUND = RouteNotFound()
_SLOW = "The service took too long to answer. Try again."
_BUSY = "Too many requests at once. Wait a moment, then try again."
_OFTEN = "Too many requests from this address. Wait a minute, then try again."
_LARGE = (
    "The request is too large: it may have 10 MB, one with a file about 4.5 MB. Send a larger file "
    "by POST /v2/uploads, and its path in this call."
)
_BAD = "The request cannot be read; send it again."
# No route uses the gateway's authentication, so its authentication errors mean an unknown path.
_UNKNOWN = (
    "MISSING_AUTHENTICATION_TOKEN",
    "RESOURCE_NOT_FOUND",
    "INVALID_SIGNATURE",
    "ACCESS_DENIED",
    "UNAUTHORIZED",
    "EXPIRED_TOKEN",
    "INVALID_API_KEY",
)
_OTHERS = {
    "REQUEST_TOO_LARGE": (413, _LARGE, "too_large"),
    "UNSUPPORTED_MEDIA_TYPE": (415, "The gateway cannot take this type.", "unsupported_type"),
    "THROTTLED": (429, _BUSY, "too_many_requests"),
    "QUOTA_EXCEEDED": (429, _BUSY, "too_many_requests"),
    "WAF_FILTERED": (429, _OFTEN, "too_many_requests"),
    "INTEGRATION_TIMEOUT": (504, _SLOW, "timed_out"),
    "INTEGRATION_FAILURE": (502, INTERNAL, ServiceError.code),
    "API_CONFIGURATION_ERROR": (500, INTERNAL, ServiceError.code),
    "BAD_REQUEST_BODY": (400, _BAD, "bad_request"),
    "BAD_REQUEST_PARAMETERS": (400, _BAD, "bad_request"),
}
# Seconds after which to retry. WAF counts calls over five minutes, and updates its counts every few
# seconds.
_RETRY_SECONDS = {"THROTTLED": 1, "QUOTA_EXCEEDED": 1, "WAF_FILTERED": 60}
# Members of a line of the access log.
LOG_FIELDS = {
    "time": "$context.requestTime",
    "requestId": "$context.requestId",
    "method": "$context.httpMethod",
    "route": "$context.resourcePath",
    "status": "$context.status",
    "gatewayError": "$context.error.responseType",
    "bytes": "$context.responseLength",
    "milliseconds": "$context.responseLatency",
    "functionMilliseconds": "$context.integrationLatency",
    "functionStatus": "$context.integration.status",
}


def rest_api() -> Part:
    """Return the properties to merge into Chalice's REST API."""
    region = "${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}"
    group = f"arn:{region}:log-group:${{{ACCESS_LOG}}}"
    # The stage cannot log before the account has a role for it. DependsOn cannot be conditional.
    after = {"Fn::If": ["SetsGatewayRole", ref(GATEWAY_ACCOUNT), "set-elsewhere"]}
    return {
        # Permissions come first, so that no route is connected to a function that cannot be called.
        "DependsOn": sorted(permissions()),
        "Properties": {
            "Name": sub("${Name}"),
            "Tags": {"gateway-log-role": after},
            "AccessLogSetting": {"DestinationArn": sub(group), "Format": json.dumps(LOG_FIELDS)},
            "MethodSettings": method_settings(),
            "TracingEnabled": {"Fn::If": [HAS_TRACING, True, False]},
            "DefinitionBody": {
                "info": {"title": sub("${Name}")},
                "paths": _paths(),
                "x-amazon-apigateway-gateway-responses": gateway_responses(),
            },
        },
    }


def gateway_responses() -> Part:
    """Return the answers that the gateway gives without calling the service."""
    unknown = (_NOT_FOUND.status, _NOT_FOUND.message, _NOT_FOUND.code)
    found = {kind: _answer(*unknown) for kind in _UNKNOWN}
    found |= {kind: _answer(*parts) for kind, parts in _OTHERS.items()}
    for kind, seconds in _RETRY_SECONDS.items():
        found[kind]["responseParameters"][f"{_HEADER}Retry-After"] = f"'{seconds}'"
    found["DEFAULT_4XX"] = _answer(None, _BAD, "bad_request")
    found["DEFAULT_5XX"] = _answer(None, INTERNAL, ServiceError.code)
    return found


def permissions() -> Part:
    """Allow the gateway to call the functions that answer routes.

    The permission names only the stage, because a permission that names an API can be created only
    after the API.
    """
    source = f"${{AWS::Partition}}:execute-api:${{AWS::Region}}:${{AWS::AccountId}}:*/{API_STAGE}"
    return {
        f"{function.logical}Callable": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "FunctionName": ref(function.alias),
                "Action": "lambda:InvokeFunction",
                "Principal": "apigateway.amazonaws.com",
                "SourceArn": sub(f"arn:{source}/*"),
            },
        }
        for function in _CALLED.values()
    }


_CALLED = {function.name: function for function in FUNCTIONS if function.name in ANSWERING}


def _paths() -> dict[str, Part]:
    """Return the integration of each method of each path.

    The method OPTIONS is integrated with the function `records`, which knows the methods of each
    path and the allowed origins.
    """
    found: dict[str, Part] = {}
    for method, path, function in routes():
        options = {**_called(RECORDS), "responses": {"204": {"description": "No content"}}}
        methods = found.setdefault(path, {"options": options})
        methods[method.lower()] = _called(function)
    return found


def _called(function: str) -> Part:
    """Return the gateway's integration that invokes a function."""
    service = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions"
    return {
        "x-amazon-apigateway-integration": {
            "type": "aws_proxy",
            "httpMethod": "POST",
            "uri": {
                "Fn::Sub": [
                    f"{service}/${{Called}}/invocations",
                    {"Called": ref(_CALLED[function].alias)},
                ]
            },
        },
    }


def domain() -> Part:
    """Return the custom domain. Its base path is empty, because old clients send no stage."""
    return {
        "CustomDomain": {
            "Type": "AWS::ApiGateway::DomainName",
            "Condition": "HasDomain",
            "Properties": {
                "DomainName": ref("Domain"),
                "RegionalCertificateArn": ref("CertificateArn"),
                "EndpointConfiguration": {"Types": ["REGIONAL"]},
                "SecurityPolicy": "TLS_1_2",
            },
        },
        "CustomDomainMapping": {
            "Type": "AWS::ApiGateway::BasePathMapping",
            "Condition": "HasDomain",
            "Properties": {
                "DomainName": ref("CustomDomain"),
                "RestApiId": ref(API),
                "Stage": ref(f"{API}.Stage"),
            },
        },
    }


def outputs() -> Part:
    """Return the outputs that a deployment reads."""
    return {
        "DomainTarget": {
            "Condition": "HasDomain",
            "Description": "Point the domain here, by a CNAME or an alias record.",
            "Value": attribute("CustomDomain", "RegionalDomainName"),
        },
        "AlarmTopicArn": {"Condition": "HasAlarmEmail", "Value": ref(TOPIC)},
        "DomainUrl": {"Condition": "HasDomain", "Value": sub("https://${Domain}")},
    }


def _answer(status: int | None, message: str, code: str) -> Part:
    """Return an error response of the gateway; if `status` is None, the usual status is kept."""
    body = json.dumps({"message": message, "code": code})
    # The texts are fixed and the same for all callers. So every page may read them, if any page may
    # call at all.
    opened = {
        f"{_HEADER}{name}": {"Fn::If": ["HasOrigins", f"'{value}'", ref("AWS::NoValue")]}
        for name, value in OPEN_HEADERS.items()
    }
    answer: Part = {
        "responseTemplates": {"application/json": body},
        "responseParameters": opened,
    }
    return answer if status is None else {"statusCode": str(status), **answer}
