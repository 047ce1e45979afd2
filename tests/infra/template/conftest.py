"""The whole template, as `chalice package` writes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from infra.packaging import staging
from infra.template.merging import merge_template, merged
from infra.template.storage import data_template
from tests.infra.tiny_package import X86

ROOT = Path(__file__).parents[3]


@cache
def whole_template() -> dict[str, Any]:
    """Make it once, also for tests elsewhere that import the fixture: Chalice takes seconds."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        staging.copy_project(ROOT, folder / "stage")
        added = merged(staging.overrides(X86), merge_template())
        made = staging.package(folder / "stage", "dev", added, folder / "tree")
    staging.check(made, X86)
    return made


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """The template of a deployment, with everything that is merged into it."""
    return whole_template()


@pytest.fixture(scope="session")
def data() -> dict[str, Any]:
    """The template of the data's stack."""
    return data_template()
