"""How large rooms, files and functions may become, and that a class name means one thing."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tests.structure.product import sources

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
    long = {path: found.lines for path, found in sources().items() if found.lines > FILE_LINES}

    assert long == {}


def test_functions_fit_a_screen() -> None:
    """No function reaches fifty lines."""
    long = {
        f"{path}:{name}"
        for path, found in sources().items()
        for name, lines in found.functions
        if lines >= FUNCTION_LINES
    }

    assert long == set()


def test_no_two_classes_share_a_name() -> None:
    """A class name is found once in the product; inner classes have a place of their own."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, source in sources().items():
        for name in source.classes:
            places[name].append(path)

    assert {name: found for name, found in places.items() if len(found) > 1} == {}
