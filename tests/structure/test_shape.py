"""How large rooms, files and functions may become, and that a class name means one thing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

from tests.structure.product import ROOT, sources

MODULES = 16
"""A folder holds at most so many, `__init__` not counted."""
FILE_LINES = 500
"""A guard against sprawl, no reason to saw a concept."""
FUNCTION_LINES = 49


def test_folders_hold_few_modules() -> None:
    """A reader takes in a folder at a glance."""
    modules = Counter(
        str(Path(path).parent) for path in sources() if not path.endswith("/__init__.py")
    )

    assert {name for name, count in modules.items() if count > MODULES} == set()


def test_files_are_no_longer_than_a_concept() -> None:
    """No module sprawls."""
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in sources()}

    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def test_functions_fit_a_screen() -> None:
    """No function reaches fifty lines."""
    long = {
        f"{path}:{node.name}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES
    }

    assert long == set()


def test_no_two_classes_share_a_name() -> None:
    """A class name is found once in the product; inner classes have a place of their own."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in sources().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)

    assert {name: found for name, found in places.items() if len(found) > 1} == {}
