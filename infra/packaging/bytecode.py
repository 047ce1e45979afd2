"""Makes byte code for the target's Python, with that Python or with one on WebAssembly.

A cold start reads byte code three times as fast as sources. See: infra/packaging/compile_tree.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.model_files.sources.client import Progress
from infra.packaging.errors import PackageError
from infra.packaging.pyodide import PYODIDE, unpack_pyodide
from infra.packaging.target import PYC_MAGIC, PYTHON_VERSION, TASK_ROOT

_HERE = Path(__file__).parent
_SCRIPT = _HERE / "compile_tree.py"
_RUNNER = _HERE / "compile_in_node.mjs"
_OWN = ("app.py", "chalicelib/")
_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class ByteCode:
    """What came of it."""

    compiler: str
    """Which Python made it; empty when there is none."""
    files: int = 0
    refused: list[str] = field(default_factory=list)
    """Files that are no Python of this version; they ship as sources."""


def compile_all(folder: Path, downloads: Path, progress: Progress) -> ByteCode:
    """Make the byte code of all Python files of a package.

    Args:
        folder: the package, unpacked.
        downloads: keeps Pyodide when it is needed.
        progress: takes lines for the user.

    Raises:
        NoCompiler: there is no Python to do it with.
        PackageError: it did not go well.
    """
    native = find_python()
    if native:
        progress(f"byte code: with {native}")
        return compile_with([native, "-I", str(_SCRIPT)], folder, native)
    progress(f"byte code: no Python {PYTHON_VERSION} on PATH, with Pyodide {PYODIDE.version}")
    with tempfile.TemporaryDirectory() as name:
        node, pyodide = unpack_pyodide(downloads, Path(name), progress)
        command = [str(node), str(_RUNNER), str(pyodide), str(_SCRIPT)]
        return compile_with(command, folder, f"Pyodide {PYODIDE.version}")


def find_python(version: str = PYTHON_VERSION) -> str | None:
    """Return a Python of a version that runs, None when there is none.

    Raises:
        PackageError: the one that the environment names is not.
    """
    named = os.environ.get(variable(version))
    if named:
        if not runs(named, version):
            raise PackageError(f"{variable(version)}={named} does not run a Python {version}.")
        return named
    # A shim on PATH may be there without any Python behind it, so each is asked.
    found = (sys.executable, shutil.which(f"python{version}"))
    return next((path for path in found if path and runs(path, version)), None)


def variable(version: str) -> str:
    """Return the environment variable that names a Python of a version, such as PYTHON313."""
    return f"PYTHON{version.replace('.', '')}"


def runs(python: str, version: str) -> bool:
    """Say whether a command runs a Python of a version."""
    try:
        said = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True)
    except OSError:
        return False
    return said.returncode == 0 and said.stdout.strip() == version


def compile_with(
    command: Sequence[str], folder: Path, name: str, magic: bytes = PYC_MAGIC
) -> ByteCode:
    """Let a Python compile a folder and check what it wrote.

    Args:
        command: runs compile_tree.py; the folder and its place on the target are added.
        folder: the package, unpacked.
        name: of the Python, for the report.
        magic: that the files must begin with.

    Raises:
        PackageError: it failed, left one of our own files out, or wrote for another Python.
    """
    done = subprocess.run(
        [*command, str(folder), TASK_ROOT],
        capture_output=True,
        text=True,
        env={**os.environ, **_ENVIRONMENT},
    )
    if done.returncode:
        raise PackageError(f"{name} could not make byte code: {done.stderr.strip()}")
    said: dict[str, Any] = json.loads(done.stdout)
    own = [path for path in said["refused"] if path.startswith(_OWN)]
    if own:
        raise PackageError(f"These files are no Python {PYTHON_VERSION}: {', '.join(own)}")
    written = sorted(folder.rglob("*.pyc"))
    alien = [path.name for path in written if not path.read_bytes().startswith(magic)]
    sources = sum(1 for _ in folder.rglob("*.py"))
    if alien or len(written) != sources - len(said["refused"]):
        raise PackageError(
            f"{name} made {len(written)} byte code files of {sources} sources, "
            f"{len(alien)} of them for another Python than {PYTHON_VERSION}."
        )
    compiler = f"CPython {said['python']} on {said['platform']}"
    return ByteCode(compiler, len(written), said["refused"])
