"""Speeds up calls of the emulated AWS in this process.

Requests with their signatures, and new clients for each test, took much of the time of tests on
stores and services; and moto looked through the addresses of all services. So calls of DynamoDB and
S3 are answered before requests are made of them. `infra/local/aws/item_calls.py` makes moto's part
quick.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore import handlers
from botocore.parsers import JSONParser
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import botocore_stubber
from moto.core.request import Request, environ_key_for_header, normalize_request
from moto.dynamodb.responses import DynamoHandler
from moto.s3 import urls as s3_urls
from moto.sqs.urls import dispatch
from werkzeug.exceptions import HTTPException

from chalicelib.config import Settings
from chalicelib.stores import stores
from chalicelib.stores.aws.clients import Clients
from infra.local.aws import item_calls, item_values
from tests import quick_objects

_HANDLERS = {"https://dynamodb.": DynamoHandler.dispatch, "https://sqs.": dispatch}
_UNREAD = tuple(_HANDLERS)
_S3_HANDLERS = [
    (re.compile(path.format(base)), handler)
    for base in s3_urls.url_bases
    for path, handler in s3_urls.url_paths.items()
]


class ItemParser(JSONParser):
    """Parses answers as botocore does, but texts and numbers without a look at other types."""

    def _handle_structure(self, shape: Any, value: Any) -> Any:
        general: Any = super()
        return item_values.text_or_number(shape, value) or general._handle_structure(shape, value)


_PARSER = ItemParser()
_SHARED: dict[Settings, Clients] = {}


def install(patch: pytest.MonkeyPatch) -> None:
    """Speed up calls until the patch is undone."""
    sign = RequestSigner.handler

    def name_caller(self: Any, operation_name: Any = None, request: Any = None, **more: Any) -> Any:
        """Return the caller's name; moto reads signatures only for objects."""
        if not (request.url.startswith(_UNREAD) and self._credentials):
            return sign(self, operation_name, request, **more)
        scope = f"{self._credentials.access_key}/20261121/{self._region_name}"
        request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}/any/aws4_request"
        return None

    patch.setattr(RequestSigner, "handler", name_caller)
    agent = "rebuild_and_replace_user_agent_handler"
    patch.setattr(UserAgentString, agent, lambda *given, **named: None)
    patch.setattr(stores, "Clients", _shared)
    patch.setattr(BotocoreStubber, "process_request", _process)
    # Last, so that what tests register sees each call before it is answered.
    direct = ("before-call", answer_directly, handlers.REGISTER_LAST)
    patch.setattr(handlers, "BUILTIN_HANDLERS", [*handlers.BUILTIN_HANDLERS, direct])


def answer_directly(model: Any, params: Any, **_: Any) -> tuple[Any, dict[str, Any]] | None:
    """Answer a call of DynamoDB's or S3's client from its parameters, without an HTTP request.

    Args:
        model: the operation.
        params: what a request would be made of.
    """
    if botocore_stubber.enabled and params["url"].startswith("https://s3."):
        return quick_objects.answer(model.name, params)
    if not (botocore_stubber.enabled and params["url"].startswith("https://dynamodb.")):
        return None
    region = params["url"].split(".")[1]
    status, headers, body = item_calls.call(params["headers"], params["body"], region)
    content = body if isinstance(body, bytes) else body.encode()
    response = {"status_code": status, "headers": headers, "body": content}
    parsed = _PARSER.parse(response, model.output_shape)
    code = parsed.get("Error", {}).get("Code")
    if code and (shape := model.service_model.shape_for_error_code(code)):
        parsed.update(_PARSER.parse(response, shape))
    return SimpleNamespace(status_code=status, headers=headers, content=content), parsed


def make_requests(client: Any, send: Callable[..., Any] | None = None) -> None:
    """Let a client send real requests, which a test can intercept.

    Args:
        client: of botocore.
        send: answers the requests in place of the emulated AWS.
    """
    events = client.meta.events
    events.unregister("before-call", answer_directly)
    if send is not None:
        events.unregister("before-send", botocore_stubber)
        events.register("before-send", send)


def keep_clients() -> None:
    """Make the existing clients unavailable to other tests, because their calls are patched."""
    _SHARED.clear()


def _shared(settings: Settings) -> Clients:
    """Return the shared clients of some settings, and bind rows to them again."""
    clients = _SHARED.setdefault(settings, Clients(settings))
    clients._is_bound = False
    return clients


def _process(stubber: BotocoreStubber, request: Any) -> Any:
    """Answer a call without searching for the service of its address, if that is known."""
    handler = next((h for start, h in _HANDLERS.items() if request.url.startswith(start)), None)
    made = _request(request) if handler else None
    if handler is None and request.url.startswith("https://s3."):
        address = request.url.partition("?")[0]
        handler = next(h for pattern, h in _S3_HANDLERS if pattern.match(address))
        made = normalize_request(request)
    if handler is None or made is None:
        return _look_up(stubber, request)
    try:
        return handler(made, made.raw_url, made.headers)
    except HTTPException as error:
        return error.code, error.get_headers(), error.get_body()


_look_up = BotocoreStubber.process_request


def _request(request: Any) -> Request:
    """Return the request object that moto's handlers expect, with its complete body."""
    parts, body = urlsplit(request.url), request.body or b""
    content = body.encode() if isinstance(body, str) else body
    environment: dict[str, Any] = {
        environ_key_for_header(name): value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    return Request(
        environment
        | {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "SERVER_NAME": parts.netloc,
            "SERVER_PORT": "443",
            "HTTP_HOST": parts.netloc,
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.url_scheme": "https",
            "wsgi.input": io.BytesIO(content),
        }
    )
