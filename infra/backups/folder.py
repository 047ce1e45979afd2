"""The files of a backup: pieces named by their sha256, and a manifest that names the pieces.

A dump adds the pieces that are not there yet, switches the manifest by one rename and removes
what it no longer names, so that a dump that breaks off leaves the backup before it untouched.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

FORMAT = 1
"""Version of the files' layout."""
MANIFEST = "manifest.json"
PIECES = "pieces"
_BLOCK = 1 << 20


class BackupError(Exception):
    """A backup cannot be made or read; the text names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of the bucket."""

    key: str
    size: int
    """Bytes."""
    etag: str
    """As the bucket named this version, to find out later whether it has changed."""
    modified: str
    """When it was written, as the bucket says."""
    content_type: str
    """Media type that it is served with."""
    sha256: str
    """Name of the piece with its bytes."""


@dataclass(frozen=True)
class Manifest:
    """Everything that one dump holds."""

    name: str
    """Prefix of the tables that were dumped."""
    created_at: str
    """When the dump was made, ISO 8601 in UTC."""
    tables: dict[str, list[str]] = field(default_factory=dict)
    """Pieces with the rows of each table, by the table's short name."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows of each table."""
    objects: list[StoredObject] = field(default_factory=list)
    """The bucket's objects, by key."""

    def pieces(self) -> set[str]:
        """Return the names of all pieces."""
        named = {name for names in self.tables.values() for name in names}
        return named | {item.sha256 for item in self.objects}


class BackupFolder:
    """One backup on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Make the folders, readable by their owner alone: a backup holds everything there is.

        Raises:
            BackupError: the folder holds something else.
        """
        is_other = self.path.exists() and any(self.path.iterdir()) and not self._is_backup()
        if is_other:
            raise BackupError(f"{self.path} holds other files; name an empty or a new folder.")
        (self.path / PIECES).mkdir(mode=0o700, parents=True, exist_ok=True)

    def manifest(self) -> Manifest | None:
        """Read the manifest; None when no dump has been finished.

        Raises:
            BackupError: it is damaged or of another version.
        """
        try:
            text = (self.path / MANIFEST).read_text("utf-8")
        except FileNotFoundError:
            return None
        return _parse(text, self.path / MANIFEST)

    def add(self, content: bytes) -> str:
        """Store a piece unless it is there; return its name."""
        name = hashlib.sha256(content).hexdigest()
        if not self._place(name).is_file():
            with self._draft() as draft:
                draft.write(content)
            self._keep(Path(draft.name), name)
        return name

    def add_stream(self, blocks: Iterable[bytes]) -> tuple[str, int]:
        """Store a piece that comes in blocks; return its name and its size in bytes."""
        digest, size = hashlib.sha256(), 0
        with self._draft() as draft:
            for block in blocks:
                digest.update(block)
                size += len(block)
                draft.write(block)
        name = digest.hexdigest()
        self._keep(Path(draft.name), name)
        return name, size

    def has(self, name: str) -> bool:
        """Tell whether a piece is there; its content is not looked at."""
        return self._place(name).is_file()

    def read(self, name: str) -> bytes:
        """Read a piece.

        Raises:
            BackupError: it is missing or damaged.
        """
        return b"".join(self._checked(name))

    def open(self, name: str) -> BinaryIO:
        """Open a piece that `verify` has found whole."""
        return self._place(name).open("rb")

    def switch(self, manifest: Manifest) -> None:
        """Make a manifest the valid one, and remove the pieces that it does not name."""
        content = asdict(manifest)
        text = json.dumps({"format": FORMAT, **content, "sha256": _digest(content)}, indent=1)
        with self._draft() as draft:
            draft.write(text.encode())
            draft.flush()
            os.fsync(draft.fileno())
        Path(draft.name).replace(self.path / MANIFEST)
        self._remove_all_but(manifest.pieces())

    def verify(self, manifest: Manifest) -> None:
        """Read every piece that a manifest names.

        Raises:
            BackupError: one is missing or damaged.
        """
        for name in sorted(manifest.pieces()):
            for _ in self._checked(name):
                pass

    def _checked(self, name: str) -> Iterator[bytes]:
        """Yield the blocks of a piece, and compare its digest at the end."""
        digest, path = hashlib.sha256(), self._place(name)
        try:
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    yield block
        except OSError as error:
            raise BackupError(
                f"{path} cannot be read ({error.strerror}); restore from another copy."
            ) from error
        if digest.hexdigest() != name:
            raise BackupError(f"{path} is damaged: its sha256 differs; restore from another copy.")

    def _draft(self) -> Any:
        return tempfile.NamedTemporaryFile(dir=self.path, prefix="draft-", delete=False)

    def _keep(self, draft: Path, name: str) -> None:
        place = self._place(name)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        draft.replace(place)

    def _place(self, name: str) -> Path:
        return self.path / PIECES / name[:2] / name

    def _remove_all_but(self, named: set[str]) -> None:
        for place in (self.path / PIECES).glob("*/*"):
            if place.name not in named:
                place.unlink()
        for draft in self.path.glob("draft-*"):
            draft.unlink(missing_ok=True)

    def _is_backup(self) -> bool:
        return (self.path / PIECES).is_dir() or (self.path / MANIFEST).is_file()

    def remove(self) -> None:
        """Remove the whole backup."""
        shutil.rmtree(self.path, ignore_errors=True)


def _parse(text: str, path: Path) -> Manifest:
    """Read a manifest."""
    try:
        found = json.loads(text)
        version, digest = found.pop("format"), found.pop("sha256")
        if version != FORMAT:
            raise BackupError(
                f"{path} has format {version}, this version reads {FORMAT}; "
                "restore it with the version that wrote it."
            )
        if _digest(found) != digest:
            raise BackupError(f"{path} is damaged: its sha256 differs; restore another copy.")
        return Manifest(**{**found, "objects": [StoredObject(**o) for o in found["objects"]]})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"{path} is damaged ({error}); restore another copy.") from error


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
