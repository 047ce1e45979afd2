"""What commands print: tables and sentences for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from presage._records import Record


class PipeClosed(Exception):
    """Whoever read the output went away, as `head` does."""


def print_json(value: Any) -> None:
    """Print one JSON value on a line of its own."""
    _write(json.dumps(plain(value), ensure_ascii=False) + "\n")


def _write(text: str) -> None:
    """Print a text; signs that the terminal does not have become question marks.

    Raises:
        PipeClosed: nobody reads on.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    except BrokenPipeError as error:
        raise PipeClosed from error


def plain(value: Any) -> Any:
    """Turn records into what JSON knows, as the service sent them."""
    if isinstance(value, Record):
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
    """Print a line for people; what a terminal would obey is shown as a question mark."""
    shown = "".join(
        sign if sign.isprintable() or sign == "\t" else "\N{REPLACEMENT CHARACTER}" for sign in line
    )
    _write(f"{shown}\n")


def note(line: str) -> None:
    """Print a line about the work itself, on stderr."""
    sys.stderr.write(line + "\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lay out a table in columns; the last one may be as long as it is."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads) - 1)]
    return [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + row[-1:])
        for row in cells
    ]


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{share:.1%}"
