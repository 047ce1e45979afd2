"""Maps files into memory."""

from __future__ import annotations

import mmap
from pathlib import Path


def map_file(path: Path) -> memoryview:
    """Map a file into memory; processes that map the same file share its pages."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
