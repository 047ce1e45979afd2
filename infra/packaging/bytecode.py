"""Compiles byte code with the building Python; cold starts read it three times as fast.

The files are unchecked (flag 1 of PEP 552): Python does not compare them with the source's time,
which the zip does not preserve.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path

from infra.packaging.errors import PackageError
from infra.packaging.target import TASK_ROOT

_OWN = ("app.py", "entry.py", "chalicelib/")


@dataclass(frozen=True)
class ByteCode:
    """The result of compiling: the compiler, and the files that it could not compile."""

    compiler: str
    """The Python version that compiled the files."""
    files: int
    refused: list[str] = field(default_factory=list)
    """Files that this Python version cannot compile; they ship as sources."""


def compile_all(folder: Path) -> ByteCode:
    """Compile all Python files of a package; the same folder gives the same byte code.

    A separate process compiles, because the files depend on the state of the process.

    Raises:
        PackageError: this Python version cannot compile a file of the project.
    """
    command = [sys.executable, "-P", "-s", "-m", "compileall", "-q", "-f", "-s", str(folder)]
    command += ["-p", TASK_ROOT, "--invalidation-mode", "unchecked-hash", str(folder)]
    # Not with `-I`, which ignores the hash seed: sets are written in the order of their hashes.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")]
    refused = sorted(name for name in names if not _is_compiled(folder / name))
    own = [name for name in refused if name.startswith(_OWN)]
    if own:
        raise PackageError(
            f"Python {platform.python_version()} cannot compile these files: {', '.join(own)}. "
            f"Output of compileall: {(done.stdout or done.stderr).strip()}"
        )
    compiler = f"CPython {platform.python_version()} on {sys.platform}"
    return ByteCode(compiler, len(names) - len(refused), refused)


def _is_compiled(source: Path) -> bool:
    """Return whether the byte code of a source exists."""
    return Path(cache_from_source(str(source), optimization="")).is_file()
