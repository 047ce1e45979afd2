"""Reads files that an agent names, but only files below folders that the user allowed."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path

# The service takes no larger document; for images its limits are lower.
MAX_BYTES = 10 * 1024 * 1024
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
# A named pipe without a writer would block the server when it is opened.
_READ_FILE = _READ | getattr(os, "O_NONBLOCK", 0)
_READ_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)


class FileRefused(Exception):
    """A file may not be read; the message says why."""


class AllowedFolders:
    """The folders below which files may be read.

    Args:
        folders: existing folders. If there are none, every file is refused.

    Raises:
        FileRefused: one of `folders` is not an existing folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._roots = [folder.expanduser().resolve() for folder in folders]
        for root in self._roots:
            if not root.is_dir():
                raise FileRefused(f"{root} is not a folder.")

    def read(self, name: str) -> io.BytesIO:
        """Return the content of a file as a stream, which has the name of the file.

        Args:
            name: absolute path, or path relative to the first allowed folder.

        Raises:
            FileRefused: the file is outside of the allowed folders, behind a symbolic link, too
                large, not readable, or not a regular file.
        """
        if not self._roots:
            raise FileRefused(
                "No folder is allowed. Start the server with --root FOLDER to read files below it."
            )
        root, parts = self._place(name)
        try:
            return _read(root, parts, name)
        except (OSError, ValueError) as error:
            reason = str(error.strerror) if isinstance(error, OSError) else str(error)
            if isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.ENOTDIR):
                reason += "; symbolic links are not followed"
            raise FileRefused(f"{name} cannot be read: {reason}.") from error

    def _place(self, name: str) -> tuple[Path, list[str]]:
        """Return the allowed folder that contains a file, and the path below this folder."""
        # Not resolved: that would follow links. A link to another folder is refused when opened.
        path = Path(os.path.normpath(self._roots[0] / name))
        for root in self._roots:
            if path != root and path.is_relative_to(root):
                return root, list(path.relative_to(root).parts)
        allowed = ", ".join(map(str, self._roots))
        raise FileRefused(f"{name} is outside of the allowed folders ({allowed}).")


def _read(root: Path, parts: Sequence[str], name: str) -> io.BytesIO:
    # Each part is opened below the one before, so that no folder can be exchanged meanwhile.
    folder = os.open(root, _READ_FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _READ_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(parts[-1], _READ_FILE, dir_fd=folder)
    finally:
        os.close(folder)
    with open(file, "rb") as stream:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused(f"{name} is not a regular file.")
        if not 0 < found.st_size <= MAX_BYTES:
            raise FileRefused(f"{name} has {found.st_size} bytes; 1 to {MAX_BYTES} are allowed.")
        content = io.BytesIO(stream.read(MAX_BYTES))
    content.name = parts[-1]
    return content
