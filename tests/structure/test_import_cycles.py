"""No module imports itself through others, not even for type annotations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.structure.product import Source, client_sources, read_script, scripts, sources


def module_of(path: str) -> str:
    """Return the module name of a file; for `__init__.py`, that of its package."""
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def imported(source: Source, modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules that a module imports anywhere, also for types only."""
    for node in source.imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = inner if inner in modules else node.module
                if found in modules:
                    yield found


def graph_of(found: dict[str, Source]) -> dict[str, set[str]]:
    """Return which modules each module imports."""
    modules = frozenset(found)
    return {name: {*imported(source, modules)} - {name} for name, source in found.items()}


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return one cycle of a graph, with its first member repeated at the end, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_service_has_no_import_cycle() -> None:
    """The imports of service and deployment have no cycle, also those inside functions."""
    graph = graph_of({module_of(path): source for path, source in sources().items()})

    assert sum(map(len, graph.values())) > 1_000
    assert not find_cycle(graph)


def test_client_has_no_import_cycle() -> None:
    """The imports of the client have no cycle, also those inside functions."""
    graph = graph_of(
        {
            module_of(path).removeprefix("client.src."): source
            for path, source in client_sources().items()
        }
    )

    assert sum(map(len, graph.values())) > 200
    assert not find_cycle(graph)


def test_console_has_no_import_cycle() -> None:
    """The imports of the console's scripts have no cycle."""
    graph = {name: set(script.imports & scripts().keys()) for name, script in scripts().items()}

    assert sum(map(len, graph.values())) > 100
    assert not find_cycle(graph)


def test_cycle_is_found() -> None:
    """The search finds a cycle of three, and the imports of a script on several lines."""
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    script = read_script('import {\n  one,\n} from "./a.js";\nimport b from "./b.module.js";\n')

    assert set(find_cycle(graph)) == {"a", "b", "c"}
    assert script.imports == {"a.js", "b.module.js"}
