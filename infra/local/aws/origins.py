"""Decides which hosts and which web pages may use the emulated AWS.

A page of another site can send requests to this machine. With DNS rebinding, these requests name
the host of that site. So only the machine's own names are accepted as host, and answers can be read
only by pages of the service and of the origins in PRESAGE_ALLOW_ORIGINS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from infra.local.http.listening import host_name, names_this_machine

# Methods that the bucket's CORS rule allows.
PAGE_METHODS = ("GET", "POST")
_ANY = "*"
_CORS_PREFIX = "access-control-"
# Seconds for which a browser remembers a preflight.
_MAX_AGE = "3600"

Headers = list[tuple[str, str]]


class Origins:
    """The hosts and origins that are allowed."""

    def __init__(self, urls: Iterable[str], allowed: Iterable[str], public_url: str | None) -> None:
        """Set the allowed origins, and the host name for presigned URLs.

        Args:
            urls: addresses of the service.
            allowed: origins of the settings; `*` allows all.
            public_url: address in presigned URLs; None if it is the address of the emulated AWS.
        """
        self._allowed = frozenset((*urls, *allowed))
        self._public_host = host_name(urlsplit(public_url or "").netloc)

    def has_host(self, environ: dict[str, Any]) -> bool:
        """Return whether the request's Host header names this machine."""
        given = environ.get("HTTP_HOST", "")
        is_public = self._public_host != "" and host_name(given) == self._public_host
        return is_public or names_this_machine(given)

    def allows(self, origin: str) -> bool:
        """Return whether pages of an origin may read answers."""
        return _ANY in self._allowed or origin.lower() in self._allowed

    def headers(self, environ: dict[str, Any]) -> Headers:
        """Return the headers that allow the requesting page to read the answer."""
        origin = environ.get("HTTP_ORIGIN", "")
        if not origin:
            return []
        shown = [("Access-Control-Allow-Origin", origin)] if self.allows(origin) else []
        return [*shown, ("Vary", "Origin")]

    def preflight(self, environ: dict[str, Any]) -> Headers | None:
        """Return the headers that answer a preflight request, or None if it is refused."""
        method = environ.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD", "")
        if method not in PAGE_METHODS or not self.allows(environ.get("HTTP_ORIGIN", "")):
            return None
        asked = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "")
        sent = [("Access-Control-Allow-Headers", asked)] if asked else []
        return [
            *self.headers(environ),
            ("Access-Control-Allow-Methods", ", ".join(PAGE_METHODS)),
            *sent,
            ("Access-Control-Max-Age", _MAX_AGE),
        ]


def with_headers(start_response: Callable[..., Any], more: Headers) -> Callable[..., Any]:
    """Add headers to an answer; remove moto's CORS headers, which let every web page read it."""

    def respond(status: str, headers: Headers, *rest: Any) -> Any:
        others = [one for one in headers if not one[0].lower().startswith(_CORS_PREFIX)]
        return start_response(status, others + more, *rest)

    return respond
