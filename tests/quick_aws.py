"""Makes calls of the emulated AWS in this process quick, leaving out what nobody reads.

Signatures, names of the caller's program, request ids and new clients for each test took much of
the time of tests on stores and services.
"""

from __future__ import annotations

from typing import Any

import pytest
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from moto.utilities import aws_headers

from chalicelib.config import Settings
from chalicelib.stores import stores
from chalicelib.stores.aws.clients import Clients

_UNREAD = ("https://dynamodb.", "https://sqs.")
_SHARED: dict[Settings, Clients] = {}


def install(patch: pytest.MonkeyPatch) -> None:
    """Be quick until the patch is undone."""
    sign = RequestSigner.handler

    def name_caller(self: Any, operation_name: Any = None, request: Any = None, **more: Any) -> Any:
        """Say who calls; beyond that moto reads only signatures of objects."""
        if not request.url.startswith(_UNREAD):
            return sign(self, operation_name, request, **more)
        scope = f"{self._credentials.access_key}/20261121/{self._region_name}"
        request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}/any/aws4_request"
        return None

    patch.setattr(RequestSigner, "handler", name_caller)
    agent = "rebuild_and_replace_user_agent_handler"
    patch.setattr(UserAgentString, agent, lambda *given, **named: None)
    patch.setattr(aws_headers, "gen_amzn_requestid_long", lambda headers=None: "A" * 52)
    patch.setattr(stores, "Clients", _shared)


def keep_clients() -> None:
    """Let the clients that there are serve nobody else, because their calls are tampered with."""
    _SHARED.clear()


def _shared(settings: Settings) -> Clients:
    """Return the clients of some settings, to which rows are bound anew."""
    clients = _SHARED.setdefault(settings, Clients(settings))
    clients._is_bound = False
    return clients
