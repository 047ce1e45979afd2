"""What tests of the product's shape ask of its source, parsed once for all of them.

No tree is kept: whole ones of all modules are millions of objects, and freeing them takes seconds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("chalicelib", "infra")


@dataclass(frozen=True)
class Source:
    """One module."""

    lines: int
    """Of its file."""
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    """Anywhere in it, also for types alone and inside functions."""
    functions: tuple[tuple[str, int], ...]
    """Names, and the lines from the first to the last."""
    classes: tuple[str, ...]
    """Names of those at its top."""


@cache
def sources() -> dict[str, Source]:
    """Read every module of the product; keyed by its path."""
    return {
        str(path.relative_to(ROOT)): _read(path.read_text("utf-8"))
        for top in PRODUCT
        for path in sorted((ROOT / top).rglob("*.py"))
    }


def _read(text: str) -> Source:
    """Take out of a module what is asked for."""
    tree = ast.parse(text)
    nodes = [*_statements(tree)]
    return Source(
        lines=len(text.splitlines()),
        imports=tuple(n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)),
        functions=tuple(
            (node.name, (node.end_lineno or 0) - node.lineno)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        classes=tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
    )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all below a node but expressions, which hold no statement."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)
