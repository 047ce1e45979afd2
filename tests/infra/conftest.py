"""What tests of builds share: the tiny project, packaged by Chalice once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.packaging import staging


@pytest.fixture(scope="session")
def packaged_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Stands for `staging.package`: Chalice, which is slow, runs once; later builds get a copy."""
    real, kept = staging.package, tmp_path_factory.mktemp("kept") / "tree"
    templates: list[dict[str, Any]] = []

    def package(stage: Path, name: str, added: Any, tree: Path) -> dict[str, Any]:
        """Package, or copy what was packaged."""
        if templates:
            shutil.copytree(kept, tree)
        else:
            templates.append(real(stage, name, added, tree))
            shutil.copytree(tree, kept)
        return templates[0]

    return package


@pytest.fixture
def quick(packaged_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds of an unchanged tiny project start no Chalice."""
    monkeypatch.setattr(staging, "package", packaged_once)
