"""Files that are written whole or not at all, whatever breaks off or fills up meanwhile."""

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
    """Open a new file, readable by its owner alone; it is removed when the block fails."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=DRAFT, delete=False) as draft:
        try:
            yield draft
            draft.flush()
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file; afterwards it is whole and on the disk, or as it was before.

    Raises:
        OSError: it cannot be written.
    """
    with drafted(path.parent) as draft:
        draft.write(content)
        sync(draft)
        Path(draft.name).replace(path)
    sync_folder(path.parent)


def sync(file: IO[bytes]) -> None:
    """Put what was written into an open file on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Put the names of a folder's files on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_drafts(folder: Path) -> None:
    """Remove what was broken off."""
    for draft in folder.glob(f"{DRAFT}*"):
        draft.unlink(missing_ok=True)
