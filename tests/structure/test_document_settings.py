"""Settings for reading documents are in one module per folder, and all are used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

OCR = Path(__file__).parents[2] / "chalicelib" / "engines" / "ocr"
FOLDERS = ("tables", "forms", "contacts")


def _names(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the names that a module assigns at its top level."""
    return {
        node.targets[0].id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


@pytest.mark.parametrize("part", FOLDERS)
def test_every_setting_is_used(part: str) -> None:
    """settings.py has no setting that the code does not use."""
    folder = OCR / part
    code = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    settings = ast.parse((folder / "settings.py").read_text("utf-8"))
    named = {
        name.id
        for node in settings.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }

    assert named == set(re.findall(r"settings\.([A-Z_]+)", code))


@pytest.mark.parametrize("part", FOLDERS)
def test_settings_are_in_one_module(part: str) -> None:
    """No other module of a folder defines a length, fraction or weight."""
    kept = [
        f"{path.name}: {name}"
        for path in (OCR / part).rglob("*.py")
        if path.name != "settings.py"
        for name, value in _names(ast.parse(path.read_text("utf-8")).body).items()
        if isinstance(value, ast.Constant) and isinstance(value.value, float)
    ]

    assert kept == []


# Lines and numbers of today, with 780 lines for tick boxes. Lower both, to 8,500 and 140.
MOST_LINES, MOST_NUMBERS = 10_427, 203
PACKAGES = ("forms", "contacts", "tables", "page", "segments", "linking")


def _count_numbers(target: ast.expr, value: ast.expr) -> int:
    """Count the constants of an assignment; a tuple counts as one."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return sum(map(_count_numbers, target.elts, value.elts))
    parts = value.elts if isinstance(value, ast.Tuple) and value.elts else [value]
    bare = [each.operand if isinstance(each, ast.UnaryOp) else each for each in parts]
    return int(
        all(isinstance(each, ast.Constant) and type(each.value) in (int, float) for each in bare)
    )


def test_reading_of_documents_shrinks() -> None:
    """The code and the thresholds for reading documents do not grow beyond their limits."""
    files = [path for name in PACKAGES for path in (OCR / name).rglob("*.py")]
    texts = [path.read_text("utf-8") for path in files]
    numbers = sum(
        _count_numbers(node.targets[0], node.value)
        for text in texts
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
    )

    assert sum(len(text.splitlines()) for text in texts) <= MOST_LINES
    assert numbers <= MOST_NUMBERS
