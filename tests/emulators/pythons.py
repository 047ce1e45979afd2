"""Finds the Python of a version that LocalStack needs, also where a version manager keeps it.

pyenv and uv install many Pythons next to each other; of those that are not chosen, only a shim or
nothing at all stands on PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.emulators.errors import EmulatorError

_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str) -> Path:
    """Return a Python of a version such as `3.11` that runs.

    Raises:
        EmulatorError: there is none, or the one that the environment names is not.
    """
    variable = f"PYTHON{version.replace('.', '')}"
    named = os.environ.get(variable)
    if named and not runs(named, version):
        raise EmulatorError(
            f"{variable}={named} does not run a Python {version}. Name one that does, or unset "
            f"{variable}."
        )
    # A shim on PATH may be there without any Python behind it, so each is asked.
    on_path = (sys.executable, shutil.which(f"python{version}"))
    found = named or next((path for path in on_path if path and runs(path, version)), None)
    known = Path(found) if found else managed(version)
    if known is None:
        raise EmulatorError(
            f"The emulator needs Python {version}, and there is none: install it "
            f"(apt-get install python{version} python{version}-venv), "
            f"or name one: {variable}=/path/to/python{version}"
        )
    return known


def runs(python: str, version: str) -> bool:
    """Return whether a command runs a Python of a version."""
    try:
        said = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True)
    except OSError:
        return False
    return said.returncode == 0 and said.stdout.strip() == version


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
