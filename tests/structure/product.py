"""The product's source, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("chalicelib", "infra")


@cache
def sources() -> dict[str, ast.Module]:
    """Parse every module of the product; keyed by its path."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8"))
        for top in PRODUCT
        for path in sorted((ROOT / top).rglob("*.py"))
    }
