"""The command `python -m infra.docs`: writes the table of docs/api.md from the operations."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from chalicelib.routes import OPERATIONS

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
_BEGIN, _END = "<!-- written by python -m infra.docs -->\n", "<!-- end -->\n"


def page(text: str) -> str:
    """Return the page with its table made anew.

    Args:
        text: of the page, with the two marks between which the table stands.
    """
    head, rest = text.split(_BEGIN)
    tail = rest.split(_END)[1]
    return "".join([head, _BEGIN, *(f"{line}\n" for line in _table()), _END, tail])


def _table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| call | what it does |"
    yield "|---|---|"
    for operation in OPERATIONS:
        routes = sorted(operation.routes(), key=itemgetter(0))
        calls = [f"`{operation.method} {path}`" for _, path in routes]
        yield f"| {'<br>'.join(calls)} | {operation.summary.rstrip('.')} |"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
