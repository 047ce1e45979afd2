"""Reports which parts of the engines are installed, and their versions, without loading them.

The description file of a part is read again only after it has changed, so that calls are fast.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from chalicelib.domain.models.model_files import (
    INSTALLED,
    LOADED,
    MISSING,
    OFFERED,
    EnginePart,
    ModelSource,
)

# The installation writes one of these last, so a part with one of them is complete.
FACTS_FILES = ("encoder.json", "backbone.json", "engine.json")
# A damaged file may have any size.
_MAX_FACTS_BYTES = 100_000

# Title and digest.
Facts = tuple[str | None, str | None]


class Pool(Protocol):
    """Reports which parts of one engine are loaded into memory."""

    def is_loaded(self, name: str) -> bool:
        """Return whether a part is in memory."""


class HealthService:
    """Lists the parts of the engines with their states."""

    def __init__(
        self, model_dir: Path, source: ModelSource, pools: Sequence[Pool], names: Collection[str]
    ) -> None:
        """Store the dependencies.

        Args:
            model_dir: folder that has a subfolder for each installed part.
            source: knows which missing parts can be downloaded.
            pools: report which parts are loaded.
            names: parts that are listed even if they are missing.
        """
        self._model_dir = model_dir
        self._source = source
        self._pools = pools
        self._names = frozenset(names)
        self._known: dict[str, tuple[int, Facts]] = {}

    def parts(self) -> list[EnginePart]:
        """Return all installed or expected parts, sorted by name."""
        files = self._facts_files()
        return [self._part(name, files.get(name)) for name in sorted(self._names | set(files))]

    def _facts_files(self) -> dict[str, tuple[str, int]]:
        """Return path and modification time of each part's description file, by part name."""
        files: dict[str, tuple[str, int]] = {}
        try:
            with os.scandir(self._model_dir) as folders:
                names = [folder.name for folder in folders if not folder.name.startswith(".")]
        except OSError:
            return files
        for name in names:
            for file in FACTS_FILES:
                path = f"{self._model_dir}/{name}/{file}"
                with suppress(OSError):
                    files[name] = path, os.stat(path).st_mtime_ns
        return files

    def _part(self, name: str, file: tuple[str, int] | None) -> EnginePart:
        title, sha256 = (None, None) if file is None else self._facts(*file)
        if any(pool.is_loaded(name) for pool in self._pools):
            return EnginePart(name, LOADED, title, sha256)
        if sha256 is not None:
            return EnginePart(name, INSTALLED, title, sha256)
        return EnginePart(name, OFFERED if self._source.offers(name) else MISSING)

    def _facts(self, path: str, changed: int) -> Facts:
        """Return a part's title and digest; read the description file only if it has changed."""
        known = self._known.get(path)
        if known is None or known[0] != changed:
            known = changed, _read(path)
            self._known[path] = known
        return known[1]


def _read(path: str) -> Facts:
    """Return title and digest in a description file; None for both if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            facts = json.loads(file.read(_MAX_FACTS_BYTES))
    except (OSError, ValueError):
        return None, None
    if not isinstance(facts, dict):
        return None, None
    title, sha256 = facts.get("title"), facts.get("sha256")
    return str(title) if title else None, str(sha256) if sha256 else None
