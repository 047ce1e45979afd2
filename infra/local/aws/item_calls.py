"""Calls DynamoDB's part of moto directly, and writes the answers of item operations quickly.

Moto's web framework and its general serializer, which looks for every member of every attribute
under several spellings, took most of a call's time; the handler takes the request as it is, and its
results have the form of the wire already, but for bytes. Tests compare the answers with the general
ones.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from http.client import responses
from typing import Any

from moto.core import responses as moto_responses
from moto.core.request import Request
from moto.dynamodb.responses import DynamoHandler, DynamoResult

_OPERATIONS = frozenset(
    ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
)
_HEADERS = {"Content-Type": "application/x-amz-json-1.0"}
_general = DynamoResult.execute_result


def install() -> None:
    """Use the quick writer in this process, and list a handler's methods once."""
    setattr(DynamoResult, "execute_result", execute)  # noqa: B010 - a method of another package
    name = "method_names_from_class"
    setattr(moto_responses, name, lru_cache(getattr(moto_responses, name)))


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer one DynamoDB call as a WSGI application."""
    request = Request(environ)
    status, headers, body = DynamoHandler.dispatch(request, request.raw_url, dict(request.headers))
    content = body if isinstance(body, bytes) else str(body).encode("utf-8")
    sent = {name: str(value) for name, value in headers.items()}
    sent["Content-Length"] = str(len(content))
    start_response(f"{status} {responses.get(status, 'Unknown')}", list(sent.items()))
    return [content]


def execute(result: DynamoResult, context: Any) -> Any:
    """Answer an item operation; every other one goes the general way."""
    if context.operation_model.name not in _OPERATIONS:
        return _general(result, context)
    known = context.operation_model.output_shape.members
    found: Any = result.result
    content = {name: value for name, value in found.items() if value is not None and name in known}
    return 200, dict(_HEADERS), json.dumps(content, default=_wire)


def _wire(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be written to the wire")
