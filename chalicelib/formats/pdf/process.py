"""The process that reads one PDF, seen from its parent: started with little, ended for sure."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from chalicelib.formats.pdf.frames import Frames

START_SECONDS = 20.0
"""How long the process may take to start; that is no fault of the document."""
MAX_MEMORY_BYTES = 1024**3
"""Address space that the process may take, in bytes."""

_START = (
    "import sys; sys.path += sys.argv[3:5]; from chalicelib.formats.pdf.child import main; main()"
)
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables without which an interpreter may not start; no others are handed on."""


class PdfProcess:
    """A child process that takes and gives frames."""

    def __init__(self, cpu_seconds: int) -> None:
        root = str(Path(__file__).resolve().parents[3])
        command = [sys.executable, "-I", "-S", "-c", _START]
        limits = [str(MAX_MEMORY_BYTES), str(cpu_seconds)]
        # The command is this interpreter and our own code; the document goes through a pipe.
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
        """Its pipes."""

    def processor_seconds(self) -> float:
        """Return the processor time that it has used; where nobody tells, the time on the clock."""
        try:
            facts = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return time.monotonic()
        # Behind the name in brackets, which may hold anything: state, and 11 figures before these.
        user, system = facts.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the process, whatever it does; may be called twice and from any thread."""
        self._process.kill()
        self._process.wait()

    def release(self) -> None:
        """Close the pipes; nobody may wait on them any more."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid


def _bindings_folder() -> str:
    spec = find_spec("pypdfium2_raw")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pypdfium2 is not installed")
    return str(Path(spec.origin).resolve().parents[1])
