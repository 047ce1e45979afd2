"""An environment for an emulator's Python packages, installed from a lock, apart from our own.

It is in build/emulators/ and is made once for each lock and Python; a stamp records whether it is
whole. Programs in it are started by `python -m`: it is made under another name, which the first
lines of its scripts keep.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.packaging.lock import PIP, pins
from tests.emulators.errors import EmulatorError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "emulators"
"""Takes one folder for each emulator."""
STAMP = "stamp.json"
"""Is written last; says from what the environment was made."""
_BUILDER = "setuptools"
_STEP = 20
"""Packages between two lines of progress."""
_ASK = "import platform; print(platform.python_version(), platform.machine())"


def say(line: str) -> None:
    """Show a line of progress at once."""
    print(line, file=sys.stderr, flush=True)


def prepare(
    name: str,
    python: Path,
    lock: Path,
    folder: Path = FOLDER,
    progress: Callable[[str], None] = say,
) -> Path:
    """Return the Python of an environment that has exactly the locked packages.

    It is made unless a whole one is there. A second process that asks meanwhile waits.

    Args:
        name: of the environment's folder.
        python: makes the environment.
        lock: packages with versions and digests; pip installs nothing else.
        folder: takes the environment.
        progress: takes lines for the user.

    Raises:
        EmulatorError: it cannot be made; the text names the remedy.
    """
    wanted = _stamp(python, lock)
    target = folder / name
    inside = Path("bin") / "python"
    with _alone(folder, name):
        if not _is_whole(target, wanted, inside):
            _remove_left(folder, name)
            with tempfile.TemporaryDirectory(prefix=_partial(name), dir=folder) as work:
                made = Path(work) / name
                _make(python, made, lock, progress)
                (made / STAMP).write_text(json.dumps(wanted), "utf-8")
                shutil.rmtree(target, ignore_errors=True)
                made.rename(target)
            progress(f"{name}: installed in {target}")
    return target / inside


def _stamp(python: Path, lock: Path) -> dict[str, str]:
    """Describe what an environment is made from."""
    try:
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()
        said = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True)
    except OSError as error:
        raise EmulatorError(f"{error.filename} cannot be used: {error.strerror}") from error
    if said.returncode:
        raise EmulatorError(f"{python} does not run; name another Python for the emulator.")
    return {"lock": digest, "python": said.stdout.strip()}


def _is_whole(target: Path, wanted: dict[str, str], inside: Path) -> bool:
    try:
        found = json.loads((target / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(found == wanted) and (target / inside).exists()


def _partial(name: str) -> str:
    return f"partial-{name}-"


def _remove_left(folder: Path, name: str) -> None:
    """Remove what killed installations left; no other process works on this name now."""
    for left in folder.glob(f"{_partial(name)}*"):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Keep other processes from the environment; the lock ends with this process."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(python: Path, made: Path, lock: Path, progress: Callable[[str], None]) -> None:
    """Make an environment and install the locked packages."""
    # Our own pip installs into it: the environment holds what is locked and nothing else.
    done = subprocess.run(
        [python, "-I", "-m", "venv", "--without-pip", made], capture_output=True, text=True
    )
    if done.returncode:
        raise EmulatorError(
            f"{python} makes no environment (apt-get install python3-venv, or free some room). "
            f"It said: {_last(done.stderr or done.stdout)}"
        )
    text = lock.read_text("utf-8")
    count = len(pins(text))
    progress(f"{made.name}: installing {count} packages (some minutes at the first time)")
    command = [*PIP, "--python", str(made / "bin" / "python"), "install", "--no-deps"]
    command += ["--require-hashes", "--no-warn-conflicts", "--progress-bar", "off"]
    builder = _block(text, _BUILDER)
    if builder:
        # Packages without wheels are built with this locked one, never with a downloaded one.
        first = made / "builder.txt"
        first.write_text(builder, "utf-8")
        _install([*command, "--requirement", str(first)], made, count, progress)
    kind = ["--no-build-isolation"] if builder else ["--only-binary", ":all:"]
    _install([*command, *kind, "--requirement", str(lock)], made, count, progress)


def _block(lock: str, name: str) -> str:
    found = re.search(rf"^{re.escape(name)}==.*\n(?:[ ].*\n)*", lock, re.MULTILINE)
    return found.group() if found else ""


def _install(command: list[str], made: Path, count: int, progress: Callable[[str], None]) -> None:
    """Run pip and tell how far it is.

    Its downloads go below the folder's own, which is on the disk where there must be room.

    Raises:
        EmulatorError: it failed.
    """
    lines: list[str] = []
    environment = {**os.environ, "TMPDIR": str(made.parent)}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    ) as process:
        try:
            collected = 0
            for line in process.stdout or ():
                lines.append(line)
                collected += line.startswith("Collecting ")
                if line.startswith("Collecting ") and collected % _STEP == 0:
                    progress(f"{made.name}: {collected} of {count} packages looked up")
                if line.startswith("Installing collected"):
                    progress(f"{made.name}: all downloaded, unpacking")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise EmulatorError(_remedy(made.name, "".join(lines)))


def _remedy(name: str, said: str) -> str:
    """Return one line for what pip said, with the way out."""
    if "DO NOT MATCH THE HASHES" in said:
        return (
            f"The index gives another package than the lock of {name} names: do not use it before "
            "you know why; then make the lock again: python -m tests.emulators lock. "
            f"Output of pip: {_line_with(said, 'from ')}"
        )
    if "No space left on device" in said:
        return f"There is not enough room for the emulator {name}: free 2 GB and start again."
    return (
        f"pip could not install the emulator {name}: check that this machine has a network and "
        f"that pip's index has its packages (pip config list). Output of pip: "
        + _line_with(said, "ERROR")
    )


def _line_with(said: str, word: str) -> str:
    """Return the last line that holds a word; the last at all when none does."""
    return _last("\n".join(line for line in said.splitlines() if word in line) or said)


def _last(said: str) -> str:
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "nothing")
