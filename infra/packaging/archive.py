"""Writes the zip archive of a package; the same files always give the same bytes."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

from infra.packaging.natives import is_binary

# The earliest time that a zip archive can contain.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LEVEL = 9
_PROGRAM = stat.S_IFREG | 0o755
_FILE = stat.S_IFREG | 0o644


def files_of(tree: Path) -> list[Path]:
    """Return all files below a folder, sorted by their name in the package."""
    paths = (path for path in tree.rglob("*") if path.is_file())
    return sorted(paths, key=lambda path: path.relative_to(tree).as_posix())


def write_zip(tree: Path, target: Path) -> dict[str, int]:
    """Write all files below a folder to a zip archive.

    Times, order and permissions are fixed; only compiled files are executable.

    Returns:
        The compressed size of each file in bytes, by name.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for path in files_of(tree):
            entry = zipfile.ZipInfo(path.relative_to(tree).as_posix(), _TIME)
            entry.create_system = _UNIX
            entry.external_attr = (_PROGRAM if is_binary(path) else _FILE) << 16
            archive.writestr(
                entry, path.read_bytes(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=_LEVEL
            )
        return {entry.filename: entry.compress_size for entry in archive.infolist()}
