"""Finds a Python that a version manager keeps, where no command of its name runs.

pyenv and uv install many Pythons beside each other; of those that are not chosen, only a shim or
nothing at all stands on PATH.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from infra.packaging.bytecode import runs


def managed(version: str, given: Mapping[str, str] = os.environ) -> Path | None:
    """Return a Python of a version such as `3.13` that runs, the newest first, or None."""
    return next((path for path in _candidates(version, given) if runs(str(path), version)), None)


def _candidates(version: str, given: Mapping[str, str]) -> Iterator[Path]:
    """Yield where it may lie."""
    home = Path(given.get("HOME") or "/nonexistent")
    data = Path(given.get("XDG_DATA_HOME") or home / ".local" / "share")
    folders = (
        (Path(given.get("PYENV_ROOT") or home / ".pyenv") / "versions", f"{version}*"),
        (Path(given.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python"), f"cpython-{version}*"),
    )
    for folder, pattern in folders:
        for found in sorted(folder.glob(pattern), reverse=True):
            yield found / "bin" / f"python{version}"
