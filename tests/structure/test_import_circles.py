"""No two modules need each other, not even for their types: each can be read before the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.structure.product import Source, sources


def module_of(path: str) -> str:
    """Name the module of a file; a package by its own name."""
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def imported(source: Source, modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules that one imports anywhere, also for its types alone."""
    for node in source.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = inner if inner in modules else node.module
                if found in modules:
                    yield found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a circle of a graph, its first member again at the end; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_no_module_is_part_of_a_circle() -> None:
    """The graph of imports has no circle, those for types and those inside functions included."""
    found = {module_of(path): source for path, source in sources().items()}
    modules = frozenset(found)

    graph = {name: {*imported(source, modules)} - {name} for name, source in found.items()}

    assert sum(map(len, graph.values())) > 1_000
    assert not circle(graph)


def test_circle_is_found() -> None:
    """The search sees a circle of three."""
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}

    assert set(circle(graph)) == {"a", "b", "c"}
