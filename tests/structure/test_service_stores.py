"""Services name the stores that they use."""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getmembers
from pathlib import Path

import pytest

from chalicelib import services
from chalicelib.config import Settings
from chalicelib.domain.common.clock import system_clock
from chalicelib.stores.stores import Stores

MODULES = sorted(Path(services.__path__[0]).rglob("*.py"), key=str)
ROOT = Path(services.__path__[0]).parents[1]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_service_takes_every_store(module: Path) -> None:
    """No service gets all stores; its constructor names those that it uses."""
    names = {node.id for node in ast.walk(ast.parse(module.read_text())) if hasattr(node, "id")}

    assert "Stores" not in names
    assert "chalicelib.stores.stores" not in module.read_text()


def groups() -> list[type]:
    """Return the dataclasses of stores that services declare."""
    found = []
    for module in MODULES:
        name = ".".join(module.relative_to(ROOT).with_suffix("").parts)
        for _, member in getmembers(import_module(name), is_dataclass):
            if member.__module__ == name and member.__name__.endswith("Stores"):
                found.append(member)
    return found


def test_each_field_of_a_group_is_the_store_of_its_name() -> None:
    """A field that `pick` fills by name has the type that the service declares."""
    stores = Stores(Settings.from_environment({}), system_clock)
    wrong = {
        f"{group.__name__}.{field.name}"
        for group in groups()
        for field in fields(group)
        if type(getattr(stores, field.name, None)).__name__ != field.type
    }

    assert len(groups()) > 10
    assert wrong == set()
