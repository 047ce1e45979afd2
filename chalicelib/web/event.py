"""What the gateway hands over: a proxy event made whole, and the facts that operations read.

A damaged event becomes an ordinary answer, never a 500.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from chalicelib.errors import BadRequest

_HOST = re.compile(r"[A-Za-z0-9.\-_]+(:[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?")


@dataclass(frozen=True)
class Incoming:
    """One request, as the operations' wrapper reads it."""

    method: str
    """GET, POST, PUT or DELETE."""
    template: str
    """Path of the route, with its variables in braces."""
    path: str
    """Path as the caller wrote it, a gateway's stage included."""
    parameters: Mapping[str, str]
    """Variables of the path, decoded once."""
    query: Mapping[str, str]
    """Query parameters; of a repeated one the last."""
    headers: Mapping[str, str]
    """Header values by lower-case name."""
    body: object
    """Body as the event holds it."""
    is_base64: bool
    """True when the body is Base64."""
    request_id: str
    """The gateway's id of the request."""
    domain: str = ""
    """Host by which the gateway was reached, as the gateway says it, not the caller."""

    def header(self, name: str) -> str:
        """Return a header's value, empty when it is absent."""
        return self.headers.get(name.lower(), "")

    @property
    def base_url(self) -> str:
        """Scheme and host that the caller used; empty when the host cannot be trusted."""
        host = self.header("host")
        if not _HOST.fullmatch(host):
            return ""
        scheme = "https" if self.header("x-forwarded-proto").lower() == "https" else "http"
        return f"{scheme}://{host}"

    def raw_body(self) -> bytes:
        """Return the body's bytes.

        Raises:
            BadRequest: the Base64 that carries the body is damaged.
        """
        body = self.body
        if body is None:
            return b""
        if not isinstance(body, str | bytes):
            raise BadRequest("The body of the request cannot be read; send it again.")
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        if not self.is_base64:
            return raw
        try:
            return base64.b64decode(raw, validate=True)
        except binascii.Error as problem:
            raise BadRequest(
                "The body of the request is damaged: its Base64 cannot be decoded. Send it again."
            ) from problem


def whole_event(event: object) -> dict[str, Any]:
    """Fill in every member that Chalice reads without asking whether it is there."""
    source: dict[str, Any] = dict(event) if isinstance(event, Mapping) else {}
    context = source.get("requestContext")
    context = dict(context) if isinstance(context, Mapping) else {}
    context["httpMethod"] = str(context.get("httpMethod") or source.get("httpMethod") or "GET")
    context["resourcePath"] = str(context.get("resourcePath") or source.get("resource") or "")
    return {
        **source,
        "requestContext": context,
        "headers": _texts(source.get("headers")),
        "pathParameters": _texts(source.get("pathParameters")),
        "multiValueQueryStringParameters": _query(source),
        "stageVariables": source.get("stageVariables"),
        "body": source.get("body"),
        "isBase64Encoded": source.get("isBase64Encoded") is True,
    }


def incoming(event: Mapping[str, Any]) -> Incoming:
    """Read the facts of a request from a whole event."""
    context = event["requestContext"]
    return Incoming(
        method=context["httpMethod"],
        template=context["resourcePath"],
        path=str(context.get("path") or event.get("path") or context["resourcePath"]),
        parameters={name: unquote(value) for name, value in event["pathParameters"].items()},
        query={name: values[-1] for name, values in _query(event).items()},
        headers={name.lower(): value for name, value in event["headers"].items()},
        body=event["body"],
        is_base64=event["isBase64Encoded"],
        request_id=str(context.get("requestId") or ""),
        domain=str(context.get("domainName") or ""),
    )


def _texts(members: object) -> dict[str, str]:
    """Keep the members that are texts."""
    if not isinstance(members, Mapping):
        return {}
    return {str(name): _sound(value) for name, value in members.items() if isinstance(value, str)}


def _sound(text: str) -> str:
    """Replace halves of surrogate pairs, which no answer could repeat."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _query(event: Mapping[str, Any]) -> dict[str, list[str]]:
    """Read the query parameters, whichever of the two forms the gateway filled."""
    many = event.get("multiValueQueryStringParameters")
    if not isinstance(many, Mapping):
        return {name: [value] for name, value in _texts(event.get("queryStringParameters")).items()}
    return {
        str(name): [_sound(str(value)) for value in values]
        for name, values in many.items()
        if isinstance(values, list | tuple) and values
    }
