"""Sizes that are small in most test runs, and full in `make growth`."""

from __future__ import annotations

import os

IS_FULL = bool(os.environ.get("PRESAGE_FULL_SIZE"))


def size(usual: int, full: int) -> int:
    """Return the small or the full size, depending on the run."""
    return full if IS_FULL else usual
