"""Detects whether a finished package was built from the current source files.

A fingerprint of everything on which the content depends is stored next to the package.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from infra.downloads.fetch import file_sha256

FILE = "sources.json"
_FILES = (
    "app.py",
    "entry.py",
    "LICENSE",
    "NOTICE",
    "requirements.txt",
    ".chalice/config.json",
    "infra/build.py",
    "infra/resources.py",
)
_FOLDERS = ("chalicelib", "infra/packaging", "infra/template")
_JUNK = "__pycache__"


def fingerprint(project: Path, *options: str) -> str:
    """Return a digest of the files that a package is built from, and of the build's options."""
    digest = hashlib.sha256(json.dumps(options).encode())
    for path in sorted(_sources(project)):
        name = path.relative_to(project).as_posix()
        digest.update(f"\n{name} {file_sha256(path)}".encode())
    return digest.hexdigest()


def note(folder: Path, sources: str, zip_file: Path) -> None:
    """Store the fingerprint `sources` of the source files next to a package."""
    record = {"sources": sources, "zip": file_sha256(zip_file)}
    (folder / FILE).write_text(json.dumps(record) + "\n", "utf-8")


def is_current(folder: Path, sources: str, zip_file: Path) -> bool:
    """Return whether a package is complete and has the fingerprint `sources`."""
    try:
        record = json.loads((folder / FILE).read_text("utf-8"))
        return bool(record == {"sources": sources, "zip": file_sha256(zip_file)})
    except (OSError, ValueError):
        return False


def _sources(project: Path) -> Iterator[Path]:
    """Yield the files on which a package depends."""
    yield from (project / name for name in _FILES if (project / name).is_file())
    for name in _FOLDERS:
        for path in (project / name).rglob("*"):
            if path.is_file() and _JUNK not in path.parts:
                yield path
