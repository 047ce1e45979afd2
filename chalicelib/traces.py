"""Describes exceptions by type, error code and position in the source, never by their messages.

A message may contain a caller's text, name or address. The position and the error code of AWS are
enough to find the cause.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from types import TracebackType

MAX_LINKS = 4
"""Maximum number of exceptions of one chain that are described."""
MAX_PLACES = 12
"""Maximum number of code places per exception; the innermost ones are described."""
# Marks an exception that was described, so that its places are logged once.
_DESCRIBED = "_is_described"
_PARTS = 3
"""Number of parts of a file's path that a log line shows, counted from the end of the path."""


def describe(exception: BaseException) -> dict[str, object]:
    """Describe an exception and its causes for a log line.

    Returns:
        Members for the line. `exception` has the type and error code. `trace` has one text for
            each exception of the chain. A second call for an exception returns no `trace`.
    """
    if exception.__dict__.get(_DESCRIBED):
        return {"exception": _title(exception)}
    exception.__dict__[_DESCRIBED] = True
    chain = list(_chain(exception))
    return {
        "exception": _title(exception),
        "trace": [f"{_title(link)} at {_places(link.__traceback__)}" for link in chain],
    }


def _chain(exception: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = exception
    for _ in range(MAX_LINKS):
        if link is None:
            return
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _title(exception: BaseException) -> str:
    kind = type(exception).__name__
    codes = [code for code in (_own_code(exception), _aws_code(exception)) if code]
    return f"{kind} ({', '.join(codes)})" if codes else kind


def _own_code(exception: BaseException) -> str:
    if isinstance(exception, OSError) and exception.errno is not None:
        return errno.errorcode.get(exception.errno, str(exception.errno))
    code = getattr(exception, "code", "")
    return code[:100] if isinstance(code, str) else ""


def _aws_code(exception: BaseException) -> str:
    response = getattr(exception, "response", None)
    if not isinstance(response, dict):
        return ""
    found = response.get("Error", {})
    code = found.get("Code", "") if isinstance(found, dict) else ""
    return f"{getattr(exception, 'operation_name', '')} {code}".strip()[:100]


def _places(trace: TracebackType | None) -> str:
    places: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        file = "/".join(code.co_filename.split("/")[-_PARTS:])
        places.append(f"{file}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-MAX_PLACES:])) or "no place"
