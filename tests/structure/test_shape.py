"""Limits for the size of folders, files and functions, and unique class names."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tests.structure.product import (
    client_sources,
    scripts,
    sources,
    written_by_hand,
)

# Modules of a folder, `__init__` not counted: what a reader takes in at a glance.
MODULES = 16
# Lines of a file: a guard against sprawl, not a reason to split one concept.
FILE_LINES = 500
FUNCTION_LINES = 49
# Characters of a line of JavaScript.
LINE_LENGTH = 120


def test_folders_hold_few_modules() -> None:
    """A folder contains at most sixteen modules."""
    modules = Counter(
        str(Path(path).parent) for path in written_by_hand() if not path.endswith("/__init__.py")
    )

    assert {name for name, count in modules.items() if count > MODULES} == set()


def test_files_are_no_longer_than_a_concept() -> None:
    """No module of service, client or console has more than 500 lines."""
    lengths = {path: found.lines for path, found in written_by_hand().items()}
    lengths |= {name: len(found.lines) for name, found in scripts().items()}

    assert {path: length for path, length in lengths.items() if length > FILE_LINES} == {}


def test_functions_fit_a_screen() -> None:
    """No function has fifty lines or more."""
    long = {
        f"{path}:{name}"
        for path, found in written_by_hand().items()
        for name, lines in found.functions
        if lines >= FUNCTION_LINES
    }

    assert long == set()


def test_lines_of_scripts_fit_a_window() -> None:
    """No line of the console's scripts has more than 120 characters."""
    long = {
        f"{name}:{number}"
        for name, found in scripts().items()
        for number, line in enumerate(found.lines, 1)
        if len(line) > LINE_LENGTH
    }

    assert long == set()


def test_every_export_of_a_script_is_used() -> None:
    """Every name that a script of the console exports is used in another script."""
    texts = {name: "\n".join(found.lines) for name, found in scripts().items()}
    unused = {
        f"{name}: {export}"
        for name, found in scripts().items()
        for export in found.exports
        if not any(export in text for other, text in texts.items() if other != name)
    }

    assert unused == set()


def test_no_two_classes_share_a_name() -> None:
    """A class name is unique within the service and within the client."""
    by_hand = written_by_hand()
    for part in (sources(), client_sources()):
        places: dict[str, list[str]] = defaultdict(list)
        for path, source in part.items():
            for name in source.classes if path in by_hand else ():
                places[name].append(path)

        assert {name: found for name, found in places.items() if len(found) > 1} == {}
