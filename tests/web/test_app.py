"""The Chalice object: threads, lazy container, binary types."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from chalicelib.web.app import PresageApp
from chalicelib.web.operations.operation import Operation


def test_requests_of_threads_are_kept_apart():
    """Each thread sees its own request while others are answered."""
    barrier = threading.Barrier(8)

    def echo(call):
        """Answer with the ids of the request."""
        barrier.wait(60)
        return {"id": call.request.request_id, "seen": app.current_request.context["requestId"]}

    operation = Operation("GET", "/echo", is_public=True)(echo)
    app = PresageApp("threads", [operation], SimpleNamespace)
    found: dict[str, str] = {}

    def ask(request_id: str) -> None:
        context = {"resourcePath": "/echo", "httpMethod": "GET", "requestId": request_id}
        found[request_id] = app({"requestContext": context}, None)["body"]

    threads = [threading.Thread(target=ask, args=(f"r{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {f"r{i}": f'{{"id":"r{i}","seen":"r{i}"}}' for i in range(8)}


def test_container_is_built_once_by_many_threads():
    """The container is built once, at the first use, also by simultaneous threads."""
    built = []

    def make():
        built.append(1)
        return SimpleNamespace()

    app = PresageApp("lazy", [], make)
    assert not built
    threads = [threading.Thread(target=lambda: app.container) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(built) == 1


def test_binary_types():
    """All binary types are declared, without which the gateway would corrupt uploads."""
    types = PresageApp("types", [], SimpleNamespace).api.binary_types

    assert {"multipart/form-data", "application/pdf", "application/zip", "image/png"} <= set(types)
    assert "application/json" not in types
