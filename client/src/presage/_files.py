"""What is sent as a file: a path, bytes, an open file, a folder of pictures, or an address."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Union, cast

from presage.errors import FileError

File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
"""A path, an address that begins with http:// or https://, bytes, or a file open for reading."""
PICTURES = frozenset({".png", ".jpg", ".jpeg"})
CONVERTIBLE = frozenset({".heic", ".heif", ".webp", ".tif", ".tiff", ".bmp", ".gif"})
"""Endings of pictures that the service does not take, and Pillow turns into JPEG."""
MOST_FILES = 100_000
"""Files that an archive may hold."""


@dataclass
class Source:
    """A file that can be read more than once."""

    stream: BinaryIO
    """Where its bytes are; seekable."""
    name: str
    """Its file name, as the service sees it."""
    size: int
    """Its bytes."""

    def part(self) -> tuple[str, BinaryIO]:
        """Return it as httpx takes it, from its beginning."""
        self.stream.seek(0)
        return self.name, self.stream

    def close(self) -> None:
        """Close the file."""
        self.stream.close()


def is_address(file: File) -> bool:
    """Tell whether the service is to fetch a file itself."""
    return isinstance(file, str) and file.startswith(("http://", "https://"))


def opened(file: File) -> Source:
    """Open a file that is sent; a folder becomes a zip archive.

    Raises:
        FileError: it cannot be read.
    """
    if isinstance(file, (bytes, bytearray)):
        return Source(io.BytesIO(file), "data", len(file))
    if isinstance(file, (str, os.PathLike)):
        return _opened_path(Path(file).expanduser())
    name = os.path.basename(str(getattr(file, "name", "data")))
    try:
        size = file.seek(0, os.SEEK_END)
    except (OSError, ValueError, AttributeError) as error:
        raise FileError(f"{name} cannot be read twice: give a path or bytes.") from error
    return Source(file, name, size)


def _opened_path(path: Path) -> Source:
    try:
        if path.is_dir():
            return _zipped(path)
        stream = path.open("rb")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    size = os.fstat(stream.fileno()).st_size
    if not size:
        stream.close()
        raise FileError(f"{path} is empty.")
    return Source(stream, path.name, size)


def _zipped(folder: Path) -> Source:
    """Write a folder of pictures into an archive that disappears when it is closed.

    What lies in hidden files and folders stays out; pictures are stored as they are.
    """
    found = list(_members(folder))
    if not any(path.suffix.lower() in PICTURES for path in found):
        raise FileError(f"{folder} holds no PNG or JPEG picture in a folder named by its label.")
    stream = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed by whoever sends it
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for path in found:
            archive.write(path, path.relative_to(folder).as_posix())
    return Source(stream, f"{folder.resolve().name}.zip", stream.tell())


def _members(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(root, name)
            if name.startswith(".") or not _is_member(path):
                continue
            count += 1
            if count > MOST_FILES:
                raise FileError(
                    f"{folder} holds more than {MOST_FILES:,} files, the most that one upload "
                    "takes: upload it in parts, the later ones with `add`."
                )
            yield path


def _is_member(path: Path) -> bool:
    """Tell whether a file belongs into an archive of pictures."""
    return path.suffix.lower() in PICTURES or path.suffix.lower() in (
        ".csv",
        ".json",
        ".txt",
        ".yaml",
        ".xml",
    )
