"""Calls DynamoDB's part of moto directly, and speeds up item operations.

Most of a call's time went into moto's web framework, its general serializer, parsing the same
expressions again, and random ids. So this module passes headers and body directly to moto's
handler. The handler's results are JSON values, except that binary values are bytes. Tests compare
the answers with those of moto's web server.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from http.client import responses
from typing import Any

from moto.core import responses as moto_responses
from moto.core.utils import get_service_model
from moto.dynamodb.responses import DynamoHandler, DynamoResult
from moto.sqs import models as sqs_models
from moto.utilities import aws_headers

from infra.local.aws import expressions, item_values
from infra.local.events import ACCOUNT

_OPERATIONS = frozenset(
    ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
)
_HEADERS = {"Content-Type": "application/x-amz-json-1.0"}
_general = DynamoResult.execute_result


def install() -> None:
    """Patch moto in this process with the fast serializer and with caches of constant results."""
    _replace(DynamoResult, "execute_result", execute)
    for name in ("method_names_from_class", "camelcase_to_underscores"):
        _replace(moto_responses, name, lru_cache(getattr(moto_responses, name)))
    for module in (aws_headers, moto_responses):
        _replace(module, "gen_amzn_requestid_long", _request_id)
    expressions.install()
    item_values.install()
    _replace(sqs_models, "unix_time_millis", _now_in_milliseconds)


def _replace(owner: Any, name: str, value: object) -> None:
    # By name, because type checkers do not know the attributes of moto's classes.
    setattr(owner, name, value)


def _now_in_milliseconds() -> float:
    """Return the time, fast: at each send, moto calls this four times per waiting message."""
    return time.time() * 1000.0


def _request_id(headerdict: dict[str, str] | None = None) -> str:
    """Return a request id as moto does, but from one read of the system's random bytes."""
    made = secrets.token_hex(26).upper()
    if isinstance(headerdict, dict):
        headerdict["x-amzn-requestid"] = made
    return made


class _Call(DynamoHandler):
    """One DynamoDB call. It skips the steps in which moto parses the URL and form fields."""

    def __init__(self, headers: Mapping[str, str], body: bytes, region: str) -> None:
        super().__init__()
        self.headers = headers
        self.querystring: dict[str, Any] = {}
        self.response_headers = {"server": "amazon.com"}
        self.region, self.current_account = region, ACCOUNT
        model = get_service_model("dynamodb").operation_model(self._get_action())
        request: Any = {"body": body}  # The JSON parser reads nothing else of a request.
        parser = item_values.ItemParser(model, map_type=self.PROTOCOL_PARSER_MAP_TYPE)
        self.params = parser.parse(request)


def call(
    headers: Mapping[str, str], body: bytes, region: str
) -> tuple[int, dict[str, Any], str | bytes]:
    """Do one DynamoDB call and return status, headers and body of its answer.

    Args:
        headers: `X-Amz-Target` and `Content-Type` of the request.
        body: JSON.
        region: region of the tables.
    """
    status, answered, content = _Call(headers, body, region).call_action()
    return int(status), answered, content


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer one signed DynamoDB call as a WSGI application."""
    headers = {
        "X-Amz-Target": environ.get("HTTP_X_AMZ_TARGET", ""),
        "Content-Type": environ.get("CONTENT_TYPE", ""),
    }
    region = environ["HTTP_AUTHORIZATION"].partition("Credential=")[2].split("/")[2]
    status, sent, body = call(headers, environ["wsgi.input"].read(), region)
    content = body if isinstance(body, bytes) else body.encode()
    sent = {name: str(value) for name, value in sent.items()}
    sent["Content-Length"] = str(len(content))
    start_response(f"{status} {responses.get(status, 'Unknown')}", list(sent.items()))
    return [content]


def execute(result: DynamoResult, context: Any) -> Any:
    """Serialise the result of an item operation; pass other results to moto."""
    if context.operation_model.name not in _OPERATIONS:
        return _general(result, context)
    known = context.operation_model.output_shape.members
    found: Any = result.result
    content = {name: value for name, value in found.items() if value is not None and name in known}
    return 200, dict(_HEADERS), json.dumps(content, default=wire)


def wire(value: object) -> str:
    """Encode bytes as Base64 for DynamoDB's JSON; raise TypeError for other values."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be written to the wire")
