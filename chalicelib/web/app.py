"""The Chalice application. It registers the operations and answers events in several threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chalice.app import Chalice, Request, Response

from chalicelib import log, metrics, tracing
from chalicelib.domain.common.head_calls import head_call
from chalicelib.errors import BadRequest, MethodNotAllowed, RouteNotFound, ServiceError
from chalicelib.web.http.access_log import METHODS, OTHER, call_ids, write_access
from chalicelib.web.http.cors import cors_headers, preflight
from chalicelib.web.http.request import read_request, whole_event
from chalicelib.web.http.responses import error_response, reshape, without_body
from chalicelib.web.operations.operation import Call, Operation, run

if TYPE_CHECKING:
    from chalicelib.container import Container

# Bodies that the gateway must pass unchanged, in addition to Chalice's own list.
BINARY_TYPES = ("multipart/form-data", "application/pdf", "application/x-zip-compressed")


class PresageApp(Chalice):
    """A Chalice application that serves the operations. The first call creates its container."""

    def __init__(
        self, name: str, operations: Iterable[Operation], make_container: Callable[[], Container]
    ) -> None:
        self._per_thread = threading.local()
        self._lock = threading.Lock()
        self._make_container = make_container
        self._container: Container | None = None
        # A separate environment, because Chalice writes a variable into the one it is given.
        super().__init__(name, configure_logs=False, env={})
        self.operations = tuple(operations)
        self._answering: dict[tuple[str, str], tuple[str, str]] = {}
        self.api.binary_types.extend(BINARY_TYPES)
        self.register_middleware(reshape, "http")
        for operation in self.operations:
            for family, path in operation.served_paths():
                self._register(operation, family, path)

    @property
    def current_request(self) -> Request | None:
        """Return the request that this thread handles."""
        # Chalice's own attribute is shared by all threads of the local server.
        return getattr(self._per_thread, "request", None)

    @current_request.setter
    def current_request(self, request: Request | None) -> None:
        """Set the request of this thread. Chalice calls this at the beginning of a request."""
        self._per_thread.request = request

    @property
    def lambda_context(self) -> Any:
        """Return the Lambda context of this thread."""
        return getattr(self._per_thread, "context", None)

    @lambda_context.setter
    def lambda_context(self, context: Any) -> None:
        """Set the Lambda context of this thread. Chalice does this when an invocation begins."""
        self._per_thread.context = context

    @property
    def container(self) -> Container:
        """Return the container of services, created at its first use."""
        if self._container is None:
            with self._lock:
                # Checked again: another thread may have created it while this one waited for the
                # lock.
                if self._container is None:
                    self._container = self._make_container()
        return self._container

    @container.setter
    def container(self, container: Container | None) -> None:
        """Set the container of services. After None, the next use creates a new container."""
        self._container = container

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        """Return the answer to a proxy event of API Gateway, even if the event is malformed."""
        began = time.perf_counter()
        event = whole_event(event)
        name = str(getattr(context, "function_name", ""))
        path, method = (event["requestContext"][key] for key in ("resourcePath", "httpMethod"))
        operation = self._answering.get((path, method), (OTHER, ""))
        with (
            log.bound(**call_ids(event, context)),
            metrics.cold_start(name),
            _traced(event, is_known=path in self.routes) as span,
        ):
            answer = (self._answer_head if method == "HEAD" else self._answer)(event, context)
            self._allow_origin(event, answer)
            if span.traceparent:
                answer["headers"][tracing.HEADER] = span.traceparent
                span.note(http__response__status_code=int(answer["statusCode"]))
            seconds = time.perf_counter() - began
            write_access(event, answer, seconds, is_known=path in self.routes, operation=operation)
        return answer

    def _answer(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        path = event["requestContext"]["resourcePath"]
        if event["requestContext"]["httpMethod"] == "OPTIONS" and path in self.routes:
            return dict(preflight(self.routes[path]).to_dict())
        problem = self._routing_problem(event)
        if problem is not None:
            return dict(error_response(problem).to_dict(self.api.binary_types))
        return dict(super().__call__(event, context))

    def _answer_head(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Return the answer to HEAD: the answer to GET without its body. Nothing is changed."""
        with head_call() as call:
            answer = self._answer(event, context)
        return without_body(answer, has_length=call.has_length)

    def _allow_origin(self, event: dict[str, Any], answer: dict[str, Any]) -> None:
        """Add the headers that let pages of allowed origins read an answer."""
        origin = _header(event, "origin")
        # Without an Origin header, the container is not created just to read a setting.
        if origin or (self._container and self._container.settings.allow_origins):
            answer["headers"] |= cors_headers(self.container.settings.allow_origins, origin)

    def _routing_problem(self, event: dict[str, Any]) -> ServiceError | None:
        """Return the error if no operation matches an event; None if one matches."""
        path = event["requestContext"]["resourcePath"]
        method = event["requestContext"]["httpMethod"]
        # Checked before Chalice, whose own errors have another form.
        if not path:
            return BadRequest("The event is not a request of the gateway.")
        if path not in self.routes:
            return RouteNotFound()
        if method not in self.routes[path]:
            return MethodNotAllowed(method[:20], list(self.routes[path]))
        if not set(self.routes[path][method].view_args) <= set(event["pathParameters"]):
            return RouteNotFound()
        return None

    def _register(self, operation: Operation, family: str, path: str) -> None:

        def view(**_: str) -> Response:
            request = self.current_request
            if request is None:
                raise RuntimeError("A view runs inside a request only.")
            facts = read_request(request.to_original_event())
            return run(Call(operation, family, facts, lambda: self.container, self.operations))

        for method in operation.methods:
            self._answering[path, method] = (operation.name, family)
        view.__doc__ = operation.summary
        name = f"{operation.name}_{family}" if family else operation.name
        # Without content types: Chalice would answer 415 to GET and DELETE with a body.
        self.route(path, methods=[*operation.methods], content_types=[], name=name)(view)


def _header(event: dict[str, Any], name: str) -> str:
    """Return the value of a header, given its name in lower case; "" if it was not sent."""
    return next((value for key, value in event["headers"].items() if key.lower() == name), "")


@contextmanager
def _traced(event: dict[str, Any], *, is_known: bool) -> Iterator[tracing.TraceSpan]:
    """Run the `with` block as a span of the caller's trace. The block answers the event."""
    sent = _header(event, tracing.HEADER)
    if not sent and tracing.Recording.recorder is None:
        yield tracing.NO_SPAN
        return
    context = event["requestContext"]
    method = context["httpMethod"] if context["httpMethod"] in METHODS else OTHER
    route = context["resourcePath"] if is_known else OTHER
    with tracing.span(f"{method} {route}", sent) as span:
        span.note(http__request__method=method, http__route=route)
        yield span
