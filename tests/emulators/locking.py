"""Makes the locks of the emulators: every package with its version and digest.

`NAME-requirements.txt` says what is asked for, `NAME-lock.txt` next to it what is installed;
ministack, which runs in the Python that builds the package, has a lock for each in
`ministack-locks`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.packaging.lock import PIP, Wheels, digest, normal, pins, render, resolve, shipped
from infra.packaging.target import ARCHITECTURES, RUNTIMES, LambdaTarget
from tests.emulators import ministack
from tests.emulators.errors import EmulatorError
from tests.emulators.pythons import find_python

PYTHONS = {"localstack": ("3.11",), "ministack": tuple(RUNTIMES), "java": ("3.11",)}
"""The Pythons that locks are made for."""
_HERE = Path(__file__).parent
_HEAD = (
    "# Everything that {name} needs on Linux, x86-64, Python {python}; used by tests alone.\n"
    "# Made from {name}-requirements.txt by: python -m tests.emulators lock {name}\n"
)


def make_locks(name: str, folder: Path = _HERE) -> list[Path]:
    """Ask the package index what an emulator needs and write its locks.

    Raises:
        EmulatorError: the emulator is unknown, or pip found no packages that fit.
        PackageError: it found none that fit another Python.
    """
    requirements = folder / f"{name}-requirements.txt"
    if name not in PYTHONS or not requirements.is_file():
        known = ", ".join(sorted(PYTHONS))
        raise EmulatorError(f"Unknown emulator {name!r}; locks can be made for {known}.")
    written = []
    for python in PYTHONS[name]:
        if name == "ministack":
            found = LambdaTarget(RUNTIMES[python], ARCHITECTURES["x86_64"])
            roots = pins(requirements.read_text("utf-8"))
            packages = shipped(resolve(requirements, found), roots, found, excluded=())
            target = ministack.lock(found.runtime)
        else:
            with tempfile.TemporaryDirectory() as work:
                installs = _resolve(find_python(python), requirements, Path(work))
            packages, target = packages_of(installs), folder / f"{name}-lock.txt"
        target.write_text(lock_of(name, python, packages), "utf-8")
        written.append(target)
    return written


def packages_of(installs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return the packages of an installation report, with their digests."""
    return {
        (normal(entry["metadata"]["name"]), entry["metadata"]["version"]): digest(entry)
        for entry in installs
    }


def lock_of(name: str, python: str, packages: Wheels) -> str:
    """Write the content of an emulator's lock for a Python."""
    return render([packages], _HEAD.format(name=name, python=python))


def _resolve(python: Path, requirements: Path, work: Path) -> list[dict[str, Any]]:
    """Let pip choose the packages for a Python."""
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
