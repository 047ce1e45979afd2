"""The source of everything that ships, parsed once for the tests of its structure.

No syntax tree is stored: the trees of all modules are millions of objects, and freeing them takes
seconds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVICE = ("chalicelib", "infra")
CLIENT = "client/src"
# Written by infra/client_records.py and client/tools/write_sync.py: their sizes follow the source.
GENERATED = ("client/src/presage/records.py", "client/src/presage/_sync/")
CONSOLE = Path("chalicelib/assets/console")
# Libraries that ship as their authors published them.
VENDORED = frozenset({"preact.module.js", "hooks.module.js", "htm.module.js"})


@dataclass(frozen=True)
class Source:
    """One Python module."""

    lines: int
    """Lines of its file."""
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    """All imports, also those for types alone and those inside functions."""
    functions: tuple[tuple[str, int], ...]
    """Names of functions, and their lines from the first to the last."""
    classes: tuple[str, ...]
    """Names of the classes at its top."""


@dataclass(frozen=True)
class Script:
    """One JavaScript module."""

    lines: tuple[str, ...]
    """Lines of its file."""
    imports: frozenset[str]
    """File names of the modules that it imports."""
    exports: frozenset[str]
    """Names that it exports."""


@cache
def sources() -> dict[str, Source]:
    """Parse every module of service and deployment; keyed by path."""
    return {path: found for top in SERVICE for path, found in _parse_below(top).items()}


@cache
def client_sources() -> dict[str, Source]:
    """Parse every module of the client; keyed by path."""
    return _parse_below(CLIENT)


def written_by_hand() -> dict[str, Source]:
    """Return every module that ships and is not generated; keyed by path."""
    found = {**sources(), **client_sources()}
    return {path: source for path, source in found.items() if not path.startswith(GENERATED)}


@cache
def scripts() -> dict[str, Script]:
    """Read every module of the console except third-party ones; keyed by file name."""
    return {
        path.name: read_script(path.read_text("utf-8"))
        for path in sorted((ROOT / CONSOLE).glob("*.js"))
        if path.name not in VENDORED
    }


def read_script(text: str) -> Script:
    """Return the imports and exports of a JavaScript module formatted by oxfmt."""
    return Script(
        lines=tuple(text.splitlines()),
        imports=frozenset(re.findall(r'^(?:import|\} from) .*"\./([\w.]+)";$', text, re.MULTILINE)),
        exports=frozenset(
            re.findall(r"^export (?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)
        ),
    )


def _parse_below(top: str) -> dict[str, Source]:
    return {
        str(path.relative_to(ROOT)): _parse(path.read_text("utf-8"))
        for path in sorted((ROOT / top).rglob("*.py"))
    }


def _parse(text: str) -> Source:
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
    """Yield all nodes below one except expressions, which contain no statements."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)
