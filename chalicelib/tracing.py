"""Passes the trace context of a caller (W3C Trace Context) through requests and jobs.

Log lines contain the id of the trace. A host that records spans sets a recorder, as the local stack
does for OpenTelemetry. Without a recorder, the caller's context is passed on unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from chalicelib import log

HEADER = "traceparent"
_FORMAT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class TraceSpan(Protocol):
    """A request or a job as a span of a trace."""

    @property
    def traceparent(self) -> str:
        """Return the trace context of the span as the value of its header; "" without a trace."""

    def note(self, **attributes: str | int) -> None:
        """Add attributes to the span. Two underscores in a name stand for a dot."""


class _PassedOn:
    """A span that is not recorded. It passes on the context of the caller."""

    def __init__(self, traceparent: str) -> None:
        self.traceparent = traceparent

    def note(self, **attributes: str | int) -> None:
        """Do nothing."""


NO_SPAN: TraceSpan = _PassedOn("")
"""The span of a request without a trace."""
# Takes the name of a span and the context of its caller, which may be empty.
Recorder = Callable[[str, str], AbstractContextManager[TraceSpan]]


class Recording:
    """Holds the recorder of this process."""

    recorder: Recorder | None = None


def record_with(recorder: Recorder | None) -> None:
    """Record spans with a recorder from now on; None stops this."""
    Recording.recorder = recorder


@contextmanager
def span(name: str, sent: str = "") -> Iterator[TraceSpan]:
    """Run the `with` block as a span of a trace. The block's log lines have the trace's id."""
    caller = sent if _FORMAT.fullmatch(sent) else ""
    if Recording.recorder is None:
        if not caller:
            yield NO_SPAN
            return
        with log.bound(trace_id=_trace_id(caller)):
            yield _PassedOn(caller)
        return
    with (
        Recording.recorder(name, caller) as found,
        log.bound(trace_id=_trace_id(found.traceparent)),
    ):
        yield found


def _trace_id(traceparent: str) -> str:
    return traceparent.split("-")[1]
