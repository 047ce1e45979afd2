"""Removes symbol tables and debugging data from compiled files, if `strip` is installed.

Files in `*.libs` folders were patched after linking and would be damaged, so they are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from infra.packaging.natives import find_binaries
from infra.packaging.target import Architecture

_SELF = os.uname().machine


@dataclass(frozen=True)
class Stripping:
    """The result of stripping."""

    program: str | None
    """First line of what `strip --version` prints; None if no program fits the target."""
    files: int = 0
    saved_bytes: int = 0


def strip(folder: Path, architecture: Architecture) -> Stripping:
    """Strip the compiled files below a folder; a file that cannot be stripped stays unchanged."""
    program = find_program(architecture)
    if program is None:
        return Stripping(None)
    files = saved = 0
    for path in find_binaries(folder):
        if path.parent.name.endswith(".libs"):
            continue
        shorter = _strip_one(program, path)
        files += shorter > 0
        saved += shorter
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return Stripping((version.splitlines() or [program])[0], files, saved)


def find_program(architecture: Architecture) -> str | None:
    """Return the strip program for an architecture; None if it is not installed."""
    names = [f"{architecture.machine}-linux-gnu-strip", "llvm-strip"]
    if architecture.machine == _SELF:
        names.insert(0, "strip")
    return next(filter(None, map(shutil.which, names)), None)


def _strip_one(program: str, path: Path) -> int:
    """Strip one file, and return the bytes saved; 0 if it stays unchanged."""
    short = path.with_name(f"{path.name}.stripped")
    before = path.stat()
    command = [program, "--strip-unneeded", "-o", str(short), str(path)]
    done = subprocess.run(command, capture_output=True)
    try:
        saved = before.st_size - short.stat().st_size if done.returncode == 0 else 0
        if saved <= 0:
            return 0
        short.chmod(before.st_mode)
        os.replace(short, path)
        return saved
    finally:
        short.unlink(missing_ok=True)
