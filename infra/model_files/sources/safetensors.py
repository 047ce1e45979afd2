"""Reads a zip archive that is split into slices, and tensors from safetensors files.

The archive is never joined on the disk, and only one tensor at a time is in memory.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infra.downloads.errors import BrokenFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAX_HEADER_BYTES = 1 << 20
_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
}


class SlicedFile(io.RawIOBase):
    """A readable, seekable file that consists of slices."""

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self._paths = list(paths)
        self._starts = [0]
        for path in self._paths:
            self._starts.append(self._starts[-1] + path.stat().st_size)
        self._place = 0

    def readable(self) -> bool:
        """Return True, because the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True, because the position can be set."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset and return it, in bytes from the beginning."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._starts[-1]}[whence]
        self._place = max(0, base + offset)
        return self._place

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read bytes of one slice into a buffer and return their number; 0 at the end."""
        view = memoryview(buffer).cast("B")
        for path, start, stop in zip(self._paths, self._starts, self._starts[1:], strict=False):
            if start <= self._place < stop:
                with path.open("rb") as file:
                    file.seek(self._place - start)
                    count = file.readinto(view[: stop - self._place])
                self._place += count
                return count
        return 0


def open_member(paths: Sequence[Path], member: str) -> IO[bytes]:
    """Open one file of a zip archive that is split into slices.

    Raises:
        BrokenFile: the archive or the file cannot be read.
    """
    try:
        return zipfile.ZipFile(io.BufferedReader(SlicedFile(paths), 1 << 20)).open(member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise BrokenFile(f"The slices hold no archive with a readable {member}.") from error


def read_tensors(file: IO[bytes]) -> Iterator[tuple[str, npt.NDArray[np.generic]]]:
    """Yield the name and values of each tensor of a safetensors file, read from front to back.

    Raises:
        BrokenFile: the file is incomplete or has another format.
    """
    try:
        size = struct.unpack("<Q", _exactly(file, 8))[0]
        if size > _MAX_HEADER_BYTES:
            raise BrokenFile("The safetensors file has a header of impossible size.")
        header = json.loads(_exactly(file, size))
        header.pop("__metadata__", None)
        place = 0
        for name, facts in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            start, stop = facts["data_offsets"]
            _exactly(file, start - place)
            values = np.frombuffer(_exactly(file, stop - start), _TYPES[facts["dtype"]])
            place = stop
            yield name, values.reshape(facts["shape"])
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, struct.error) as error:
        raise BrokenFile(f"The safetensors file cannot be read: {error}") from error


def _exactly(file: IO[bytes], count: int) -> bytes:
    content = file.read(count)
    if count < 0 or len(content) != count:
        raise BrokenFile("The safetensors file ends too early.")
    return content
