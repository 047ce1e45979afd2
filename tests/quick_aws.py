"""Makes calls of the emulated AWS in this process quick, leaving out what is never read.

Signatures, names of the caller's program and new clients for each test took much of the time of
tests on stores and services; and moto looked through the addresses of all services and built
requests as for a web server. `infra/local/aws/item_calls.py` makes moto's own part quick.
"""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.request import Request, environ_key_for_header
from moto.dynamodb.responses import DynamoHandler
from moto.sqs.urls import dispatch
from werkzeug.exceptions import HTTPException

from chalicelib.config import Settings
from chalicelib.stores import stores
from chalicelib.stores.aws.clients import Clients

_HANDLERS = {"https://dynamodb.": DynamoHandler.dispatch, "https://sqs.": dispatch}
_UNREAD = tuple(_HANDLERS)
_SHARED: dict[Settings, Clients] = {}


def install(patch: pytest.MonkeyPatch) -> None:
    """Be quick until the patch is undone."""
    sign = RequestSigner.handler

    def name_caller(self: Any, operation_name: Any = None, request: Any = None, **more: Any) -> Any:
        """Say who calls; beyond that moto reads only signatures of objects."""
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


def keep_clients() -> None:
    """Make the existing clients unavailable to other tests, because their calls are patched."""
    _SHARED.clear()


def _shared(settings: Settings) -> Clients:
    """Return the clients of some settings, to which rows are bound again."""
    clients = _SHARED.setdefault(settings, Clients(settings))
    clients._is_bound = False
    return clients


def _process(stubber: BotocoreStubber, request: Any) -> Any:
    """Answer a call, without looking whose address it has where that is plain."""
    handler = next((h for start, h in _HANDLERS.items() if request.url.startswith(start)), None)
    if handler is None:
        return _look_up(stubber, request)
    made = _request(request)
    try:
        return handler(made, made.raw_url, made.headers)
    except HTTPException as error:
        return error.code, error.get_headers(), error.get_body()


_look_up = BotocoreStubber.process_request


def _request(request: Any) -> Request:
    """Make what moto's handlers take of a call with a body that is all there."""
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
