"""Adds the package with the engine's code, which infra/packaging/reachable.py copies."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineHook(BuildHookInterface):
    """Writes the package into a temporary folder and includes it in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package."""
        project = Path(self.root).parents[1]
        sys.path.insert(0, str(project))
        from infra.packaging.reachable import write_runtime

        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name) / "presage_runtime"
        write_runtime(project, Path(self.root) / "presage_runtime", target)
        build_data["force_include"][str(target)] = "presage_runtime"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the folder."""
        self._folder.cleanup()
