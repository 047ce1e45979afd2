"""Calls DynamoDB's part of moto directly, and answers item operations quickly.

Moto's web framework and its general serializer, which looks for every member of every attribute
under several spellings, took most of a call's time; the handler takes the request as it is, and its
results have the form of the wire already, but for bytes. Tests compare the answers with the general
ones. What was left went into taking the same expressions apart again, and into random ids.
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
    """Use the quick writer in this process, and do once what gives the same each time.

    What is put into moto's classes here is of another package, so type checkers do not know it.
    """
    _replace(DynamoResult, "execute_result", execute)
    name = "method_names_from_class"
    _replace(moto_responses, name, lru_cache(getattr(moto_responses, name)))
    for module in (aws_headers, moto_responses):
        _replace(module, "gen_amzn_requestid_long", _request_id)
    _read_expressions_once()


def _replace(owner: Any, name: str, value: object) -> None:
    setattr(owner, name, value)


def _request_id(headerdict: dict[str, str] | None = None) -> str:
    """Name a request as moto does, with letters from the system in place of 52 random choices."""
    made = secrets.token_hex(26).upper()
    if isinstance(headerdict, dict):
        headerdict["x-amzn-requestid"] = made
    return made


def _read_expressions_once() -> None:
    """Keep what the parts of expressions are, and ask quickly for the kinds of parsed ones."""
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
    """Tells instances by inheritance alone: no class of the parser is registered elsewhere."""

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
