"""Maps files into memory."""

from __future__ import annotations

import mmap
from pathlib import Path


def map_file(path: Path) -> memoryview:
    """Return the content of a file without reading it; processes share its pages."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
