"""Output of the commands: tables and text for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from presage._records import Record


class PipeClosed(Exception):
    """The reader of the output, such as `head`, has closed the pipe."""


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    _write(json.dumps(plain(value), ensure_ascii=False) + "\n")


def _write(text: str) -> None:
    """Print text, with `?` for unencodable characters; raise PipeClosed if the pipe is closed."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    except BrokenPipeError as error:
        raise PipeClosed from error


def plain(value: Any) -> Any:
    """Convert records to the JSON values that the service sent."""
    if isinstance(value, Record):
        # Not the declared members, which may be fewer than the service sent.
        return value.raw
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def show(value: Any, text: Iterable[str], *, as_json: bool) -> None:
    """Print a value as JSON, or as lines of text."""
    if as_json:
        print_json(value)
    else:
        for line in text:
            say(line)


def say(line: str) -> None:
    """Print a line for people; control characters become replacement characters."""
    # A text of a dataset could otherwise control the terminal.
    shown = "".join(
        sign if sign.isprintable() or sign == "\t" else "\N{REPLACEMENT CHARACTER}" for sign in line
    )
    _write(f"{shown}\n")


def note(line: str) -> None:
    """Print a status line on stderr."""
    sys.stderr.write(line + "\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return the lines of a table; its last column is not padded."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    # Spaces after the last column would only wrap lines on a narrow terminal.
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads) - 1)]
    return [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + row[-1:])
        for row in cells
    ]


def percent(fraction: float) -> str:
    """Return a fraction as a percentage."""
    return f"{fraction:.1%}"
