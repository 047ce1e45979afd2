"""All errors are imported from one place, whichever module they lie in."""

from __future__ import annotations

import importlib
import pkgutil

import chalicelib.errors


def test_every_error_is_in_the_one_place() -> None:
    """What a module of the package defines can be imported from the package itself."""
    defined = {
        name
        for module in pkgutil.iter_modules(chalicelib.errors.__path__, "chalicelib.errors.")
        for name, value in vars(importlib.import_module(module.name)).items()
        if isinstance(value, type) and value.__module__ == module.name
    }
    assert defined == set(chalicelib.errors.__all__)
