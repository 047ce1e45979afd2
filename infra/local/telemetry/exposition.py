"""Answers scrapes by Prometheus: on a separate port, and on the public port with a token.

The values of all processes are added here, from files that outlive the processes.
"""

from __future__ import annotations

import hmac
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import waitress
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from chalicelib.config import Settings
from infra.local.http.gateway import HttpAnswer, HttpRequest
from infra.local.http.server import error_body
from infra.local.saving import SavingState
from infra.local.snapshots import control
from infra.local.state import State
from infra.local.telemetry.collector import ReadQueues, StackCollector
from infra.local.worker import event_source_mappings

PATH = "/metrics"
THREADS = 2
_UNAUTHORIZED = "Send the value of PRESAGE_METRICS_TOKEN as 'Authorization: Bearer …'."


def make_registry(
    app: Any, settings: Settings, state: State, saving: SavingState, *, has_own_queues: bool
) -> CollectorRegistry:
    """Return a registry with the metrics of all processes and the gauges of the stack.

    Args:
        app: the Chalice application.
        settings: names of the queues, and the endpoint of AWS.
        state: folder with the description of the running stack.
        saving: time of the last save.
        has_own_queues: whether the emulated AWS of this stack has the queues.
    """
    registry = CollectorRegistry(auto_describe=False)
    MultiProcessCollector(registry)
    lanes = {each.queue: each.name for each in event_source_mappings(app, settings)}
    read: ReadQueues | None = (
        (lambda: control(settings, "GET")["queues"]) if has_own_queues else None
    )
    registry.register(StackCollector(state, saving, app.container.stores, lanes, read))
    return registry


def serve(listener: socket.socket, registry: CollectorRegistry) -> None:
    """Answer scrapes on a port until the process ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    waitress.serve(
        page(registry), sockets=[listener], threads=THREADS, ident="presage", _quiet=True
    )


def page(registry: CollectorRegistry) -> Callable[..., list[bytes]]:
    """Return a WSGI application with the metrics at PATH and nothing else."""
    metrics = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        method = environ["REQUEST_METHOD"]
        status, body = "", b""
        headers = [("Content-Type", "text/plain; charset=utf-8")]
        if environ["PATH_INFO"] != PATH:
            status = "404 Not Found"
        elif method not in ("GET", "HEAD"):
            status, headers = "405 Method Not Allowed", [*headers, ("Allow", "GET, HEAD")]
        else:
            given: list[Any] = []
            parts = metrics({**environ, "REQUEST_METHOD": "GET"}, lambda *more: given.extend(more))
            status, headers, body = given[0], given[1], b"".join(parts)
        start_response(status, [*headers, ("Content-Length", str(len(body)))])
        return [] if method == "HEAD" else [body]

    return answer


def guarded(registry: CollectorRegistry, token: str) -> Callable[[HttpRequest], HttpAnswer]:
    """Return a function that answers scrapes on the public port.

    Args:
        registry: registry of the metrics.
        token: bearer token that a request must have.
    """
    expected = f"bearer {token}".encode()

    def answer(request: HttpRequest) -> HttpAnswer:
        headers = {name.lower(): value for name, value in request.headers}
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        if not hmac.compare_digest(f"{scheme.lower()} {sent}".encode(), expected):
            refused = [("Content-Type", "application/json"), ("WWW-Authenticate", "Bearer")]
            body = error_body(_UNAUTHORIZED, "unauthorized")
            return HttpAnswer(401, refused, body, is_own=True)
        encode, content_type = choose_encoder(headers.get("accept", ""))
        return HttpAnswer(200, [("Content-Type", content_type)], encode(registry), is_own=True)

    return answer
