"""Types of files to send: what callers may pass, and an opened file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO, Union

# A path, a URL, a result of `uploads.send`, bytes, or a file open for reading.
File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
PICTURES = frozenset({".png", ".jpg", ".jpeg"})
# Endings of images that the service does not accept, and that Pillow converts to JPEG.
CONVERTIBLE = frozenset({".heic", ".heif", ".webp", ".tif", ".tiff", ".bmp", ".gif"})


@dataclass
class Source:
    """An open file that can be read more than once."""

    stream: BinaryIO
    """A seekable stream of its content."""
    name: str
    """File name that is sent to the service."""
    size: int
    """Size in bytes."""
    scale: float = 1.0
    """Original width divided by the width that is sent."""

    def part(self) -> tuple[str, BinaryIO]:
        """Return name and stream, at its beginning, as a form part of httpx."""
        self.stream.seek(0)
        return self.name, self.stream

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


def is_address(file: File) -> bool:
    """Return whether the service reads the file itself: a URL, or a result of `uploads.send`."""
    return isinstance(file, str) and file.startswith(("http://", "https://", "presage:upload/"))
