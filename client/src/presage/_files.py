"""What is sent as a file: a path, bytes, an open file, a folder of pictures, or an address."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Union

from presage.errors import FileError

File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
"""A path, an address, what `uploads.send` returned, bytes, or a file open for reading."""
PICTURES = frozenset({".png", ".jpg", ".jpeg"})
CONVERTIBLE = frozenset({".heic", ".heif", ".webp", ".tif", ".tiff", ".bmp", ".gif"})
"""Endings of pictures that the service does not take, and Pillow turns into JPEG."""


@dataclass
class Source:
    """A file that can be read more than once."""

    stream: BinaryIO
    """Where its bytes are; seekable."""
    name: str
    """Its file name, as the service sees it."""
    size: int
    """Its bytes."""
    scale: float = 1.0
    """By how much the picture was made smaller before it is sent."""

    def part(self) -> tuple[str, BinaryIO]:
        """Return it as httpx takes it, from its beginning."""
        self.stream.seek(0)
        return self.name, self.stream

    def close(self) -> None:
        """Close the file."""
        self.stream.close()


def is_address(file: File) -> bool:
    """Tell whether the service is to fetch a file itself, or has it by `uploads.send`."""
    return isinstance(file, str) and file.startswith(("http://", "https://", "presage:upload/"))


def opened(file: File, progress: bool | None = None) -> Source:
    """Open a file that is sent; a folder becomes a zip archive.

    Args:
        file: path, bytes, open file or folder.
        progress: whether to show how a folder is packed; None shows it on a terminal.

    Raises:
        FileError: it cannot be read.
    """
    if isinstance(file, (bytes, bytearray)):
        return Source(io.BytesIO(file), "data", len(file))
    if isinstance(file, (str, os.PathLike)):
        return _opened_path(Path(file).expanduser(), progress)
    name = os.path.basename(str(getattr(file, "name", "data")))
    try:
        size = file.seek(0, os.SEEK_END)
    except (OSError, ValueError, AttributeError) as error:
        raise FileError(f"{name} cannot be read twice: give a path or bytes.") from error
    return Source(file, name, size)


def _opened_path(path: Path, progress: bool | None) -> Source:
    try:
        if path.is_dir():
            from presage._folders import zipped  # what only folders need

            return zipped(path, progress)
        if path.exists() and not path.is_file():  # before `open`, which would wait for a pipe
            raise FileError(f"{path} is no file: a device or a pipe cannot be read twice.")
        stream = path.open("rb")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise FileError(f"{str(path)!r} is no path of a file: {error}.") from error
    size = os.fstat(stream.fileno()).st_size
    if not size:
        stream.close()
        raise FileError(f"{path} is empty.")
    return Source(stream, path.name, size)
