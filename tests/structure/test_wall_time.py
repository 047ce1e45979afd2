"""Only the timed part asserts wall time; other tests pass on a busy machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.parts import ROOT, TIMED

CLOCKS = {"monotonic", "perf_counter", "time"}
"""Functions of the module `time` that other processes on the machine advance."""
LONG_TIER = {
    "tests/flows/long_turns.py",
    "tests/browser",
    "tests/deployed",
    "tests/localstack",
    "tests/generated",
    "tests/proxies",
}
"""Files and folders that `make test` does not run."""


def reads_clock(node: ast.AST) -> bool:
    """Return whether an expression calls a wall clock."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and isinstance(part.func.value, ast.Name)
        and part.func.value.id == "time"
        and part.func.attr in CLOCKS
        for part in ast.walk(node)
    )


def is_elapsed(node: ast.AST, durations: set[str]) -> bool:
    """Return whether an expression contains a difference of times, or a name of one."""
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and reads_clock(part))
        or (isinstance(part, ast.Name) and part.id in durations)
        for part in ast.walk(node)
    )


def durations_of(tree: ast.AST) -> set[str]:
    """Return the variables and functions that contain or return a difference of times."""
    found: set[str] = set()
    for _ in range(3):  # a duration may be computed from another, a function may return it
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and is_elapsed(node.value, found):
                found |= {part.id for part in node.targets if isinstance(part, ast.Name)}
            elif isinstance(node, ast.FunctionDef) and any(
                isinstance(part, ast.Return) and part.value and is_elapsed(part.value, found)
                for part in ast.walk(node)
            ):
                found.add(node.name)
    return found


def asserted_durations(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of assertions that limit a duration of wall time."""
    durations = durations_of(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        for part in ast.walk(node.test):
            if isinstance(part, ast.Compare):
                sides = [part.left, *part.comparators]
                pairs = zip(sides, part.ops, sides[1:], strict=False)
                for left, operator, right in pairs:
                    smaller = left if isinstance(operator, ast.Lt | ast.LtE) else right
                    is_order = isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
                    if is_order and is_elapsed(smaller, durations):
                        yield node.lineno


def is_exempt(path: str) -> bool:
    """Return whether a file is in the timed part, or is not run by `make test`."""
    return path in TIMED or any(Path(path).is_relative_to(place) for place in LONG_TIER)


def test_wall_time_is_asserted_in_the_timed_part_alone() -> None:
    """No test outside `TIMED` asserts that something takes little time."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if not is_exempt(str(path.relative_to(ROOT)))
        # The search takes long, and every duration begins with a call of one of these.
        and any(f"time.{name}(" in path.read_text("utf-8") for name in CLOCKS)
        for line in asserted_durations(ast.parse(path.read_text("utf-8")))
    ]

    assert found == []


def test_asserted_durations_are_found() -> None:
    """The search finds differences of times, their names, and functions that return them."""
    text = """
def lasts():
    begun = time.monotonic()
    return time.monotonic() - begun
def test():
    begun = time.perf_counter()
    assert time.perf_counter() - begun < 5
    took = time.perf_counter() - begun
    assert 5 > took
    assert lasts() <= 1
    assert time.perf_counter() < deadline
    assert took >= 0.1
"""
    assert [*asserted_durations(ast.parse(text))] == [7, 9, 10]
