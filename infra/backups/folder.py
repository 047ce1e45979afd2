"""The files of a backup: pieces named by their SHA-256, and a manifest that names the pieces.

A dump first writes new pieces under temporary names, and then renames them. Next, one rename
replaces the manifest. Last, pieces that the manifest does not name are deleted. So an interrupted
dump leaves the previous backup intact, and the next dump deletes the pieces that were left over.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from infra.atomic_files import drafted, remove_drafts, sync, sync_folder, write_atomically

# Version of the format of backups.
FORMAT = 1
MANIFEST = "manifest.json"
# The manifest of the previous dump, if that is stored, too.
PREVIOUS = "manifest-before.json"
PIECES = "pieces"
_BLOCK = 1 << 20
# Syncing files is mostly waiting for the disk, so it is done in parallel.
_THREADS = 8


class BackupError(Exception):
    """A backup cannot be made or read; the message names the file and what to do."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of the bucket."""

    key: str
    size: int
    """Size in bytes."""
    etag: str
    """ETag in the bucket, which shows later whether the object has changed."""
    modified: str
    """Time at which the object was written, according to the bucket."""
    content_type: str
    sha256: str
    """SHA-256 of the object's bytes; this is the name of the piece that contains them."""


@dataclass(frozen=True)
class Manifest:
    """The content of one dump."""

    name: str
    """Prefix of the names of the dumped tables."""
    created_at: str
    """Time of the dump, ISO 8601 in UTC."""
    tables: dict[str, list[str]] = field(default_factory=dict)
    """Pieces with the rows of each table, by the table's short name."""
    rows: dict[str, int] = field(default_factory=dict)
    """Number of rows by the table's short name."""
    objects: list[StoredObject] = field(default_factory=list)
    """The bucket's objects in the order of their keys."""

    def set_table(self, short: str, pieces: list[tuple[str, int]]) -> None:
        """Set the pieces of a table, each with its number of rows."""
        self.tables[short] = [name for name, _ in pieces]
        self.rows[short] = sum(count for _, count in pieces)

    def pieces(self) -> set[str]:
        """Return the names of all pieces."""
        named = {name for names in self.tables.values() for name in names}
        return named | {item.sha256 for item in self.objects}


class BackupFolder:
    """One backup on disk."""

    def __init__(self, path: Path, keeps_previous: bool = False) -> None:
        """Set the folder, which is created when it is first needed.

        Args:
            path: path of the folder.
            keeps_previous: whether the dump before the latest dump stays in the folder, too.
        """
        self.path = path
        self._keeps_previous = keeps_previous
        self._is_read = False
        self._known: Manifest | None = None
        # Digest of the loaded manifest's file, to notice changes by other processes.
        self._seal = ""
        # Pieces of the loaded manifest, and of the previous one.
        self._kept: set[str] = set()
        self._damaged: set[str] = set()
        # Temporary files of added pieces, by the name that each piece gets in the end.
        self._drafts: dict[str, Path] = {}
        # Pieces that no manifest names yet.
        self._new: list[str] = []

    def _prepare(self) -> None:
        """Create the folders, delete drafts of an interrupted dump, and refuse other files."""
        is_other = self.path.exists() and any(self.path.iterdir()) and not self._is_backup()
        if is_other:
            raise BackupError(f"{self.path} holds other files; name an empty or a new folder.")
        # Only the owner may read a backup, which has the data of all accounts.
        (self.path / PIECES).mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_drafts(self.path)

    def manifest(self) -> Manifest | None:
        """Read the manifest; return None if no dump has been finished.

        Raises:
            BackupError: the manifest is damaged or of another version.
        """
        return _read(self.path / MANIFEST)

    def previous(self) -> Manifest | None:
        """Read the manifest of the previous dump; return None if it is missing or damaged."""
        try:
            return _read(self.path / PREVIOUS)
        except BackupError:
            return None

    def open_dump(self) -> Manifest | None:
        """Prepare a dump, and return the latest dump's manifest, or None before the first dump.

        Pieces of an interrupted dump are deleted.

        Raises:
            BackupError: the folder has other files, or a damaged manifest.
        """
        self._prepare()
        # Read once, because later dumps of this object have written the manifest themselves.
        if not self._is_read:
            manifest = self.manifest()
            self._remember(manifest, self.previous() if self._keeps_previous else None)
        if self._known is not None:
            self._remove_unnamed()
        return self._known

    def start_over(self) -> None:
        """Ignore the manifests on the disk, so that the next dump is complete and replaces them."""
        self._prepare()
        self._remember(None, None)

    def named_pieces(self) -> set[str]:
        """Return the names of the loaded manifest's pieces."""
        return self._known.pieces() if self._known else set()

    def has_whole_manifest(self) -> bool:
        """Return whether the loaded manifest is intact on the disk; True if none is loaded."""
        return self._known is None or self.seal() == self._seal

    def seal(self) -> str:
        """Return the digest of the manifest on the disk; empty without a manifest."""
        return _seal_of(self.path / MANIFEST)

    def is_empty(self) -> bool:
        """Return whether the folder has no files of a backup, not even of a damaged backup."""
        return not any(self.path.glob("manifest*")) and not any(self._pieces())

    def has_deleted_pieces(self) -> bool:
        """Return whether the dump before the latest dump has pieces that the latest dump lacks."""
        return bool(self._known and self._kept - self._known.pieces())

    def add(self, content: bytes) -> str:
        """Write a piece under a temporary name, unless it exists; return its final name.

        `settle` renames the piece to this name.

        Raises:
            OSError: the piece cannot be written.
        """
        name = hashlib.sha256(content).hexdigest()
        if not self.has(name):
            with drafted(self.path) as draft:
                draft.write(content)
            self._drafts[name] = Path(draft.name)
        return name

    def add_stream(self, blocks: Iterable[bytes]) -> tuple[str, int]:
        """Write a piece that consists of blocks; return its name and its size in bytes.

        Raises:
            OSError: the piece cannot be written.
        """
        digest, size = hashlib.sha256(), 0
        with drafted(self.path) as draft:
            for block in blocks:
                digest.update(block)
                size += len(block)
                draft.write(block)
            sync(draft)
        name = digest.hexdigest()
        if self.has(name):
            Path(draft.name).unlink()
        else:
            self._keep(Path(draft.name), name)
        return name, size

    def settle(self) -> None:
        """Write the added pieces to the disk, then rename them to their final names.

        Raises:
            OSError: a piece cannot be written.
        """
        # In this order, so that after a power failure no piece has a name without its content.
        with ThreadPoolExecutor(_THREADS) as threads:
            for _ in threads.map(_sync_file, self._drafts.values()):
                pass
        for name, draft in self._drafts.items():
            self._keep(draft, name)
        self._drafts.clear()
        for folder in {self._place(name).parent for name in self._new}:
            sync_folder(folder)
        sync_folder(self.path / PIECES)

    def discard_new(self) -> None:
        """Delete the pieces that were added and that no manifest names yet."""
        for path in (*self._drafts.values(), *(self._place(name) for name in self._new)):
            with suppress(OSError):
                path.unlink()
        self._drafts.clear()
        self._new.clear()

    def has(self, name: str) -> bool:
        """Return whether a piece exists; its content is not checked."""
        if name in self._drafts:
            return True
        return name not in self._damaged and self._place(name).is_file()

    def size(self, name: str) -> int:
        """Return the size of a piece in bytes; 0 when it is missing."""
        try:
            return self._place(name).stat().st_size
        except OSError:
            return 0

    def note_damage(self, name: str) -> None:
        """Treat a piece as missing, so that the next dump writes it again."""
        self._damaged.add(name)

    def read(self, name: str) -> bytes:
        """Read a piece; raise BackupError if the piece is missing or damaged."""
        return b"".join(self.blocks(name))

    def open(self, name: str) -> BinaryIO:
        """Open a piece that `verify` has checked."""
        return self._place(name).open("rb")

    def switch(self, manifest: Manifest) -> None:
        """Replace the manifest, and delete pieces that no manifest names.

        Raises:
            OSError: the manifest or one of its pieces cannot be written.
        """
        self.settle()
        previous = self._known if self._keeps_previous else None
        if previous is not None:
            write_atomically(self.path / PREVIOUS, _written(previous))
        write_atomically(self.path / MANIFEST, _written(manifest))
        self._remember(manifest, previous)
        self._new.clear()
        self._damaged.clear()
        self._remove_unnamed()

    def verify(self, manifest: Manifest) -> None:
        """Check all pieces of a manifest; raise BackupError if a piece is missing or damaged."""
        for name in sorted(manifest.pieces()):
            self.check(name)

    def check(
        self, name: str, from_disk: bool = False, must_end: Callable[[], bool] = lambda: False
    ) -> None:
        """Check the digest of a piece.

        Args:
            name: name of the piece.
            from_disk: whether to read from the disk, not from the system's cache.
            must_end: returns whether to leave the rest of the piece unread.

        Raises:
            BackupError: the piece is missing or damaged.
        """
        if from_disk:
            self._drop_cached(name)
        for _ in self.blocks(name):
            if must_end():
                return

    def _drop_cached(self, name: str) -> None:
        """Drop a piece's content from the system's cache, if the system supports it."""
        if hasattr(os, "posix_fadvise"):
            with suppress(OSError), self._place(name).open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the blocks of a piece, and compare its digest at the end.

        Raises:
            BackupError: the piece is missing or damaged.
        """
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

    def _keep(self, draft: Path, name: str) -> None:
        place = self._place(name)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        draft.replace(place)
        if name not in self._kept:
            self._new.append(name)

    def _place(self, name: str) -> Path:
        return self.path / PIECES / name[:2] / name

    def _remember(self, manifest: Manifest | None, previous: Manifest | None) -> None:
        self._is_read, self._known = True, manifest
        self._seal = self.seal()
        self._kept = {name for one in (manifest, previous) if one for name in one.pieces()}

    def _remove_unnamed(self) -> None:
        for place in self._pieces():
            if place.name not in self._kept:
                place.unlink()

    def _pieces(self) -> Iterator[Path]:
        return (self.path / PIECES).glob("*/*")

    def _is_backup(self) -> bool:
        return (self.path / PIECES).is_dir() or (self.path / MANIFEST).is_file()

    def remove(self) -> None:
        """Delete the whole backup."""
        shutil.rmtree(self.path, ignore_errors=True)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _read(path: Path) -> Manifest | None:
    try:
        return _parse(path.read_text("utf-8"), path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"{path} cannot be read ({error}); restore another copy.") from error


def _seal_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _written(manifest: Manifest) -> bytes:
    content = asdict(manifest)
    text = json.dumps({"format": FORMAT, **content, "sha256": _digest(content)}, indent=1)
    return text.encode()


def _parse(text: str, path: Path) -> Manifest:
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
