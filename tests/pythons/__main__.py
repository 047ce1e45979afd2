"""Installs the client on each Python that it supports, and runs its tests there.

Run: python -m tests.pythons [OPTIONS OF PYTEST]. The service runs on this Python; the others get
environments of their own below build/pythons. A Python that this machine has not is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.emulators.errors import EmulatorError
from tests.emulators.pythons import find_python
from tests.flows.world import World, listed_operations
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "pythons"
OWN = "{}.{}".format(*sys.version_info)
VERSIONS = [version for version in ("3.10", "3.11", "3.12", "3.13", "3.14") if version != OWN]
"""Pythons that the client supports, but the one that `make test` runs on."""
TESTS = (
    "tests/flows/presage_client",
    "tests/client/test_files.py",
    "tests/client/test_requests.py",
)


def say(line: str) -> None:
    """Show a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def prepare(version: str) -> Path | None:
    """Return a Python with the client, as people install it; None where there is no such Python."""
    try:
        python = find_python(version)
    except EmulatorError:
        return None
    target = FOLDER / version
    inside = target / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", target], check=True)
    install = [inside, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    tools = ["--requirement", str(Path(__file__).with_name("requirements.txt"))]
    subprocess.run([*install, *tools, "./client[pictures,plots]"], cwd=ROOT, check=True)
    # The same version of the client is not installed again by itself.
    again = ["--force-reinstall", "--no-deps", "./client"]
    subprocess.run([*install, *again], cwd=ROOT, check=True)
    return inside


def run(python: Path, given: dict[str, object], options: Sequence[str]) -> int:
    """Run the client's tests and return their exit status."""
    command = [python, "-m", "pytest", "-c", "tests/pythons/pytest.ini", "--rootdir", ROOT]
    command += ["--confcutdir", "tests/flows/presage_client", *TESTS, *options]
    environment = {**os.environ, "PRESAGE_ELSEWHERE": json.dumps(given)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main(options: Sequence[str]) -> int:
    """Run everything; returns the exit status."""
    failed, missing = [], []
    with tempfile.TemporaryDirectory() as folder, LocalStack() as stack:
        world = World(stack, Path(folder))
        for version in VERSIONS:
            python = prepare(version)
            if python is None:
                missing.append(version)
                continue
            email = str(world.caller("GOLD", example_calls=100_000).email)
            say(f"Python {version}:")
            given = {"url": stack.url, "email": email, "key": world.private_pem}
            if run(python, {**given, "operations": listed_operations()}, options):
                failed.append(version)
        world.close()
    if missing:
        say(f"Not tested, for want of such a Python: {', '.join(missing)} (pyenv has them).")
    if failed:
        say(f"The client's tests failed on Python {', '.join(failed)}.")
    return 1 if failed or len(missing) == len(VERSIONS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
