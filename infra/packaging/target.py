"""What the package is built for: Lambda's Python and the two kinds of processor.

The one place that knows the runtime. Used by every step of infra/build.py.
"""

from __future__ import annotations

from dataclasses import dataclass

RUNTIME = "python3.13"
"""Name of the Lambda runtime."""
PYTHON_VERSION = "3.13"
PYTHON_TAG = "313"
"""As in the file names of extension modules: cpython-313."""
PYC_MAGIC = bytes.fromhex("f30d0d0a")
"""First bytes of every byte code file of that Python."""
TASK_ROOT = "/var/task"
"""Where Lambda unpacks the zip; stands in tracebacks."""
MAX_VERSIONS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
"""Newest symbol versions of the C and C++ libraries of Amazon Linux 2023, on which it runs."""
SYSTEM_LIBRARIES = frozenset(
    {
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
        "libc.so.6",
        "libdl.so.2",
        "libgcc_s.so.1",
        "libm.so.6",
        "libpthread.so.0",
        "librt.so.1",
        "libstdc++.so.6",
        "libutil.so.1",
        "libz.so.1",
    }
)
"""Shared libraries that the runtime brings; every other one must be in the package."""


@dataclass(frozen=True)
class Architecture:
    """A kind of processor that Lambda offers."""

    name: str
    """As Lambda calls it."""
    machine: str
    """As Linux and Python packages call it."""
    elf_machine: int
    """The field e_machine of its executables."""

    @property
    def platforms(self) -> tuple[str, ...]:
        """Platform tags of packages that run there, the newest first."""
        bases = ("manylinux_2_28", "manylinux_2_27", "manylinux2014")
        return tuple(f"{base}_{self.machine}" for base in bases)


ARCHITECTURES = {
    "x86_64": Architecture("x86_64", "x86_64", 62),
    "arm64": Architecture("arm64", "aarch64", 183),
}
"""By name."""
