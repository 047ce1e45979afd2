"""Writes one JSON line per event, with time, level and the ids of its call or job.

Lines contain only ids and numbers, and no tokens, texts, file names or image bytes. For an
exception, a line has its type and the lines of code (file, function, line) where it was raised. The
message is left out, because it may contain data that a caller sent. Lambda adds no prefix, so each
line becomes one event in the log group of its function (docs/runbook.md).
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from chalicelib.traces import describe

STDERR = "stderr"
MAX_TEXT = 500
"""Maximum number of characters of one text in a line."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Facts = Mapping[str, object]

_LOGGER = logging.getLogger("presage.lines")
"""Not named `presage`, because that is Chalice's logger for this application."""
_LOGGER.propagate = False
_FACTS: ContextVar[Facts] = ContextVar("presage_log_facts", default=MappingProxyType({}))
_LEVELS = {
    "INFO": logging.INFO,
    "WARNING": logging.WARNING,
    "ERROR": logging.ERROR,
    "CRITICAL": logging.CRITICAL,
}
_FIXED = frozenset({"time", "level", "event"})
"""Names that every log line has. Facts of the caller cannot replace these values."""


class _Stream(logging.Handler):
    """Writes lines to a standard stream, looked up for each line, because it may be replaced."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.stream_name = name

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line. An error of the stream is ignored, so that it does not fail the call."""
        try:
            stream = getattr(sys, self.stream_name)
            stream.write(f"{record.getMessage()}\n")
            stream.flush()
        except (OSError, ValueError):
            return


class _Libraries(logging.Handler):
    """Writes log records of libraries without their arguments, because these may be private."""

    def emit(self, record: logging.LogRecord) -> None:
        facts: dict[str, object] = {"logger": record.name, "text": str(record.msg)}
        error = record.exc_info[1] if record.exc_info else None
        _write(record.levelname, "library", facts, error)


STREAM = _Stream(STDERR)
"""Writes the lines, unless a host has called `write_to`."""
STREAM.setLevel(logging.WARNING)
_LOGGER.addHandler(STREAM)


def configure(level: str, stream: str = "") -> None:
    """Set log level and stream. If `stream` is empty, stderr gets only warnings and errors."""
    _LOGGER.setLevel(level)
    STREAM.stream_name = stream or STDERR
    STREAM.setLevel(logging.NOTSET if stream else logging.WARNING)


def write_to(*handlers: logging.Handler) -> None:
    """Send lines only to these logging handlers."""
    for handler in list(_LOGGER.handlers):
        _LOGGER.removeHandler(handler)
    for handler in handlers:
        _LOGGER.addHandler(handler)


def capture_libraries() -> None:
    """Write log records of libraries as JSON lines; remove the handlers that Lambda installed."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    root.addHandler(_Libraries(logging.WARNING))


def info(event: str, **facts: object) -> None:
    """Log an event of normal work, with facts as members of the line."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _write("INFO", event, facts)


def warning(event: str, **facts: object) -> None:
    """Log a problem that was handled."""
    if _LOGGER.isEnabledFor(logging.WARNING):
        _write("WARNING", event, facts)


def error(event: str, exception: BaseException | None = None, /, **facts: object) -> None:
    """Log a failure. If `exception` is given, the line shows where in the code it was raised."""
    if _LOGGER.isEnabledFor(logging.ERROR):
        _write("ERROR", event, facts, exception)


def record(event: str, exception: BaseException | None = None, /, **facts: object) -> None:
    """Log an event that accounting or metrics need. It is logged at every log level."""
    _write("ERROR" if exception else "INFO", event, facts, exception)


@contextmanager
def bound(**facts: object) -> Iterator[None]:
    """Add facts to all lines that this thread writes in the `with` block. Blocks may be nested."""
    token = _FACTS.set({**_FACTS.get(), **facts})
    try:
        yield
    finally:
        _FACTS.reset(token)


def add(**facts: object) -> None:
    """Add facts to all later lines until the innermost `bound` block ends."""
    _FACTS.set({**_FACTS.get(), **facts})


def with_context(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Wrap a function, so that it logs with the current facts even in another thread."""
    facts = _FACTS.get()

    @wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        token = _FACTS.set(facts)
        try:
            return function(*args, **kwargs)
        finally:
            _FACTS.reset(token)

    return run


def _write(level: str, event: str, facts: Facts, exception: BaseException | None = None) -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line: dict[str, object] = {"time": now, "level": level, "event": event}
    shown = describe(exception) if exception else {}
    for name, value in (*_FACTS.get().items(), *facts.items(), *shown.items()):
        if name not in _FIXED:
            line[name] = _plain(value)
    # Passed to the handlers directly, because the level was checked before.
    number = _LEVELS.get(level, logging.WARNING)
    text = _ENCODER.encode(line)
    _LOGGER.handle(_LOGGER.makeRecord(_LOGGER.name, number, "", 0, text, (), None))


def _plain(value: object) -> object:
    if isinstance(value, str):
        return _cut(value)
    # JSON knows neither infinity nor "not a number".
    return str(value) if isinstance(value, float) and value - value != 0 else value


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


_ENCODER = json.JSONEncoder(default=_cut)
"""Shared by all lines, because creating an encoder costs more than encoding a line."""
