"""Installs the locked packages for the target into a folder. See: infra/packaging/lock.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

from infra.packaging.errors import PackageError
from infra.packaging.lock import LOCK, PIP, target_options
from infra.packaging.target import Architecture


def install(architecture: Architecture, folder: Path) -> None:
    """Install exactly what is locked, without byte code.

    Args:
        architecture: whose wheels are taken.
        folder: is made.

    Raises:
        PackageError: pip could not get them, or got others than the lock allows.
    """
    command = [*PIP, "install", "--quiet", "--no-deps", "--require-hashes", "--no-compile"]
    command += ["--no-warn-conflicts", "--target", str(folder)]
    command += [*target_options(architecture), "--requirement", str(LOCK)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise PackageError(
            f"pip could not install the packages for {architecture.name}. Check that this machine "
            "has a network and that pip's index has them (pip config list). pip said:\n"
            f"{done.stderr.strip()}"
        )
