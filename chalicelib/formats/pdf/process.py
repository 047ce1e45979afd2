"""Starts and ends the child process that reads one PDF. This module runs in the parent process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from chalicelib.formats.pdf.frames import Frames

# How long the process can take to start, which is not the document's fault.
START_SECONDS = 20.0
# Limit of the process's address space in bytes.
MAX_MEMORY_BYTES = 1024**3

_START = (
    "import sys; sys.path += sys.argv[3:5]; from chalicelib.formats.pdf.child import main; main()"
)
# Variables without which an interpreter may not start; no others are passed on.
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


class PdfProcess:
    """A child process that reads a PDF, and exchanges frames with the parent process."""

    def __init__(self, cpu_seconds: int) -> None:
        root = str(Path(__file__).resolve().parents[3])
        command = [sys.executable, "-I", "-S", "-c", _START]
        limits = [str(MAX_MEMORY_BYTES), str(cpu_seconds)]
        # The command is this interpreter and this project's code; the document goes through a pipe.
        self._process = subprocess.Popen(  # noqa: S603
            [*command, *limits, root, _bindings_folder()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("no pipes")
        self.frames = Frames(self._process.stdin.fileno(), self._process.stdout.fileno())
        """The pipes to the child process."""

    def processor_seconds(self) -> float:
        """Return the processor time that the child has used; without /proc, the elapsed time."""
        try:
            facts = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return time.monotonic()
        # The name in brackets can contain anything, so count from behind it: state, then 11 fields.
        user, system = facts.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the child process if it is running. Any thread may call this, even several times."""
        self._process.kill()
        self._process.wait()

    def release(self) -> None:
        """Close the pipes to the child process. Call this only when no thread uses the pipes."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def pid(self) -> int:
        """Return the process id of the child."""
        return self._process.pid


def _bindings_folder() -> str:
    spec = find_spec("pypdfium2_raw")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pypdfium2 is not installed")
    return str(Path(spec.origin).resolve().parents[1])
