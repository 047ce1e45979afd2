"""The application of bench/constant_app.py without the hooks of metrics and traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bench.constant_app import app
from chalicelib import metrics, tracing
from chalicelib.web import app as web_app

__all__ = ["app"]


@contextmanager
def _without_span(*_: object, **__: object) -> Iterator[tracing.TraceSpan]:
    yield tracing.NO_SPAN


def _record_nothing(*_: object, **__: object) -> None:
    return None


def _embed_nothing(*_: object, **__: object) -> Mapping[str, object]:
    return {}


# The hooks are replaced where they are called; no other module calls them in a request.
for module, name, replacement in (
    (tracing, "span", _without_span),
    (web_app, "_traced", _without_span),
    (metrics, "record", _record_nothing),
    (metrics, "embedded", _embed_nothing),
):
    setattr(module, name, replacement)
