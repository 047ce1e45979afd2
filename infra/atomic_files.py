"""Writes files completely or not at all, even if the process dies or the disk is full."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Beginning of the names of files that are not whole yet; a kill may leave some.
DRAFT = "draft-"


@contextmanager
def drafted(folder: Path) -> Iterator[IO[bytes]]:
    """Open a new file that only its owner can read; it is removed if the `with` block fails."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=DRAFT, delete=False) as draft:
        try:
            yield draft
            draft.flush()
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file and sync it to the disk; if OSError is raised, the old file is unchanged."""
    with drafted(path.parent) as draft:
        draft.write(content)
        sync(draft)
        Path(draft.name).replace(path)
    sync_folder(path.parent)


def sync(file: IO[bytes]) -> None:
    """Sync the content of an open file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk, so that its list of file names is permanent."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_drafts(folder: Path) -> None:
    """Remove the unfinished files that interrupted writes left in a folder."""
    for draft in folder.glob(f"{DRAFT}*"):
        draft.unlink(missing_ok=True)
