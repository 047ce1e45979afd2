"""Examples of every call: recorded from the service, compared with it by tests/flows/documented."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples.json"
"""Request and answer of each operation, by `key`."""


def key(operation: str, family: str) -> str:
    """Name an operation of a family, as the document does."""
    return "_".join(part for part in (operation, family) if part)


def example(operation: str, family: str) -> dict[str, Any]:
    """Return `request`, the fields of the body, and `answer`; empty where nothing is shown.

    A file in `request` is `@` and its name.
    """
    found: dict[str, Any] = _all().get(key(operation, family), {})
    return found


@cache
def _all() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXAMPLES.read_text("utf-8"))
    return found
