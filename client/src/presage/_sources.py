"""Types of files to send: what callers may pass, and an opened file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO, Union

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
