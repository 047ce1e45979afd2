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
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from tests.emulators.errors import EmulatorError
from tests.emulators.pythons import find_python
from tests.flows.world import World, listed_operations
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "pythons"
OWN = "{}.{}".format(*sys.version_info)
OLDEST = "3.10"
VERSIONS = [version for version in (OLDEST, "3.11", "3.12", "3.13", "3.14") if version != OWN]
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


def prepare(version: str, *, is_lowest: bool = False) -> Path | None:
    """Return a Python with the client, as people install it; None where that Python is missing.

    Args:
        version: of the Python.
        is_lowest: whether each package has the lowest version that the client takes.
    """
    try:
        python = find_python(version)
    except EmulatorError:
        return None
    target = FOLDER / (f"{version}-lowest" if is_lowest else version)
    inside = target / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", target], check=True)
    install = [inside, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    tools = ["--requirement", str(Path(__file__).with_name("requirements.txt"))]
    tools += lowest() if is_lowest else []
    subprocess.run([*install, *tools, "./client[pictures,plots]"], cwd=ROOT, check=True)
    # The same version of the client is not reinstalled automatically.
    again = ["--force-reinstall", "--no-deps", "./client"]
    subprocess.run([*install, *again], cwd=ROOT, check=True)
    return inside


def lowest() -> list[str]:
    """Name the lowest version of each package that client/pyproject.toml takes."""
    project = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return [wanted.replace(">=", "==") for wanted in (*project["dependencies"], *chain(*extras))]


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
        for version, is_lowest in ((OLDEST, True), *((version, False) for version in VERSIONS)):
            python = prepare(version, is_lowest=is_lowest)
            if python is None:
                missing.append(version)
                continue
            email = str(world.caller("GOLD", example_calls=100_000).email)
            say(f"Python {version}{' with the lowest versions' if is_lowest else ''}:")
            given = {"url": stack.url, "email": email, "key": world.private_pem}
            # Old packages warn of each other.
            quiet = ("-W", "ignore::DeprecationWarning") if is_lowest else ()
            if run(python, {**given, "operations": listed_operations()}, (*quiet, *options)):
                failed.append(version)
        world.close()
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        say(f"Not tested, for want of such a Python: {names} (pyenv has them).")
    if failed:
        say(f"The client's tests failed on Python {', '.join(failed)}.")
    return 1 if failed or set(missing) == set(VERSIONS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
