"""Tests of the measures by which documents are read: gathered, named and used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

OCR = Path(__file__).parents[2] / "chalicelib" / "engines" / "ocr"
WINGS = ("tables", "forms", "contacts")


def _names(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return what a module assigns to single names at its top."""
    return {
        node.targets[0].id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


@pytest.mark.parametrize("wing", WINGS)
def test_every_measure_is_used(wing: str) -> None:
    """A length, share or weight that no rule asks for any more leaves measures.py."""
    folder = OCR / wing
    code = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    measures = ast.parse((folder / "measures.py").read_text("utf-8"))
    named = {
        name.id
        for node in measures.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }

    assert named == set(re.findall(r"measures\.([A-Z_]+)", code))


@pytest.mark.parametrize("wing", WINGS)
def test_measures_stand_together(wing: str) -> None:
    """No other module of a wing defines a length, share or weight."""
    kept = [
        f"{path.name}: {name}"
        for path in (OCR / wing).rglob("*.py")
        if path.name != "measures.py"
        for name, value in _names(ast.parse(path.read_text("utf-8")).body).items()
        if isinstance(value, ast.Constant) and isinstance(value.value, float)
    ]

    assert kept == []
