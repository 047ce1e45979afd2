"""The whole template, as `chalice package` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.packaging import staging
from infra.template.merging import merge_template, merged
from infra.template.storage import data_template
from tests.infra.tiny_package import X86

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The template of a deployment, with everything that is merged into it."""
    folder = tmp_path_factory.mktemp("package")
    staging.copy_project(ROOT, folder / "stage")
    added = merged(staging.overrides(X86), merge_template())
    made = staging.package(folder / "stage", "dev", added, folder / "tree")
    staging.check(made, X86)
    return made


@pytest.fixture(scope="session")
def data() -> dict[str, Any]:
    """The template of the data's stack."""
    return data_template()
