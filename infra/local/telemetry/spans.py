"""Sends spans to a collector of OpenTelemetry over OTLP/HTTP.

The SDK reads the collector's address and other options from the variables `OTEL_…`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from chalicelib import tracing

# Name of the service, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES has one.
SERVICE = "presage"
# Longest wait for the collector when a process ends, in milliseconds.
_FLUSH_MILLISECONDS = 1000


class _Recorded:
    """A span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        """Return the context of this span in the form of the header `traceparent`."""
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(self._span))
        return carrier[tracing.HEADER]

    def note(self, **attributes: str | int) -> None:
        """Add attributes to the span; two underscores in a name stand for a dot."""
        for name, value in attributes.items():
            self._span.set_attribute(name.replace("__", "."), value)


def record_spans(process: str) -> Callable[[], None]:
    """Record the spans of this process; return a function that sends all unsent spans."""
    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or SERVICE}
    provider = TracerProvider(resource=Resource.create({**named, "presage.process": process}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer(SERVICE)

    @contextmanager
    def record(name: str, caller: str) -> Iterator[tracing.TraceSpan]:
        context = TraceContextTextMapPropagator().extract({tracing.HEADER: caller})
        kind = SpanKind.SERVER if process == "front" else SpanKind.CONSUMER
        with tracer.start_as_current_span(name, context, kind, record_exception=False) as span:
            yield _Recorded(span)

    tracing.record_with(record)

    def flush() -> None:
        provider.force_flush(_FLUSH_MILLISECONDS)

    return flush
