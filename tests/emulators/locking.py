"""Makes the locks of the emulators: every package with its version and digest.

`NAME-requirements.txt` says what is asked for, `NAME-lock.txt` beside it what is installed. See:
infra/packaging/lock.py for the lock of what ships.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.packaging.lock import PIP, digest, normal, render
from tests.emulators.environment import find_python
from tests.emulators.errors import EmulatorError

PYTHONS = {"localstack": "3.11", "ministack": "3.13", "java": "3.11"}
"""The Python that each lock is made for."""
_HERE = Path(__file__).parent
_HEAD = (
    "# Everything that {name} needs on Linux, x86-64, Python {python}; used by tests alone.\n"
    "# Made from {name}-requirements.txt by: python -m tests.emulators lock {name}\n"
)


def make_lock(name: str, folder: Path = _HERE) -> Path:
    """Ask the package index what an emulator needs and write its lock.

    Raises:
        EmulatorError: there is no such emulator, or pip found no packages that fit.
    """
    requirements = folder / f"{name}-requirements.txt"
    if name not in PYTHONS or not requirements.is_file():
        known = ", ".join(sorted(PYTHONS))
        raise EmulatorError(f"There is no emulator {name!r} to make a lock for; there are {known}.")
    found = find_python(PYTHONS[name])
    with tempfile.TemporaryDirectory() as work:
        installs = _resolve(found, requirements, Path(work))
    target = folder / f"{name}-lock.txt"
    target.write_text(lock_of(name, installs), "utf-8")
    return target


def lock_of(name: str, installs: Sequence[Mapping[str, Any]]) -> str:
    """Write a lock's content.

    Args:
        name: of the emulator.
        installs: the member `install` of pip's installation report.
    """
    packages = {
        (normal(entry["metadata"]["name"]), entry["metadata"]["version"]): digest(entry)
        for entry in installs
    }
    return render([packages], _HEAD.format(name=name, python=PYTHONS[name]))


def _resolve(python: Path, requirements: Path, work: Path) -> list[dict[str, Any]]:
    """Let pip choose the packages for a Python.

    Raises:
        EmulatorError: it found none that fit.
    """
    report = work / "report.json"
    commands = (
        [str(python), "-I", "-m", "venv", "--without-pip", str(work / "venv")],
        [
            *(*PIP, "--python", str(work / "venv" / "bin" / "python"), "install", "--dry-run"),
            *("--ignore-installed", "--quiet", "--report", str(report)),
            *("--requirement", str(requirements)),
        ],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise EmulatorError(f"pip finds no packages for {requirements.name}: {done.stderr}")
    found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    return found
