"""Calls DynamoDB's part of moto directly, and speeds up item operations.

Most of a call's time went into moto's web framework, its general serializer, parsing the same
expressions again, and random ids. Moto's handler takes the plain request, and its results have the
form of the wire already, except for bytes. Tests compare the answers with moto's general ones.
"""

from __future__ import annotations

import base64
import json
import secrets
from abc import ABCMeta
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from http.client import responses
from typing import Any

from moto.core import responses as moto_responses
from moto.core.request import Request
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.parsing import ast_nodes
from moto.dynamodb.responses import DynamoHandler, DynamoResult
from moto.utilities import aws_headers

_OPERATIONS = frozenset(
    ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
)
_HEADERS = {"Content-Type": "application/x-amz-json-1.0"}
_general = DynamoResult.execute_result
_nodes: Any = ast_nodes


def install() -> None:
    """Patch moto in this process: the fast serializer, and caches of constant results."""
    _replace(DynamoResult, "execute_result", execute)
    name = "method_names_from_class"
    _replace(moto_responses, name, lru_cache(getattr(moto_responses, name)))
    for module in (aws_headers, moto_responses):
        _replace(module, "gen_amzn_requestid_long", _request_id)
    _read_expressions_once()


def _replace(owner: Any, name: str, value: object) -> None:
    # By name, because type checkers do not know the attributes of moto's classes.
    setattr(owner, name, value)


def _request_id(headerdict: dict[str, str] | None = None) -> str:
    """Return a request id as moto does, but from one read of the system's random bytes."""
    made = secrets.token_hex(26).upper()
    if isinstance(headerdict, dict):
        headerdict["x-amzn-requestid"] = made
    return made


def _read_expressions_once() -> None:
    """Cache the tokens of expressions, and speed up type checks of parsed ones."""
    lex = lru_cache(10_000)(ConditionExpressionParser("", {}, {})._lex_one_node)
    _replace(ConditionExpressionParser, "_lex_one_node", lambda _, text: lex(text))
    walker = _nodes.DepthFirstTraverser
    kinds = cached_property(walker.nodes_to_be_processed)
    kinds.__set_name__(walker, "_kinds")
    _replace(walker, "_kinds", kinds)
    _replace(walker, "nodes_to_be_processed", lambda walk: walk._kinds)
    waiting = [_nodes.Node]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        one.__class__ = _PlainType


class _PlainType(ABCMeta):
    """Checks instances by inheritance alone: the parser registers no virtual subclasses."""

    __instancecheck__ = type.__instancecheck__


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
    """Serialise the result of an item operation; leave others to moto."""
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
