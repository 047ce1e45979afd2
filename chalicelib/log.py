"""One JSON line per event on the standard logger; never tokens, texts or image bytes."""

from __future__ import annotations

import json
import logging

_LOGGER = logging.getLogger("presage")


def configure(level: str) -> None:
    """Set the lowest level that is logged; called once when the container is built."""
    _LOGGER.setLevel(level)


def info(event: str, **facts: object) -> None:
    """Log an event of normal work with its facts."""
    _write(logging.INFO, event, facts)


def warning(event: str, **facts: object) -> None:
    """Log something that went wrong but was handled."""
    _write(logging.WARNING, event, facts)


def error(event: str, exception: BaseException | None = None, **facts: object) -> None:
    """Log a failure, with the exception's traceback when there is one."""
    _write(logging.ERROR, event, facts, exception)


def _write(
    level: int, event: str, facts: dict[str, object], exception: BaseException | None = None
) -> None:
    """Format and emit one line."""
    if _LOGGER.isEnabledFor(level):
        line = json.dumps({"event": event, **facts}, default=str, ensure_ascii=False)
        _LOGGER.log(level, line, exc_info=exception)
