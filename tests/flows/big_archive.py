"""Image archives of any size, written to a file and posted from it with a form.

Neither the archive nor a form is ever held in memory.
"""

from __future__ import annotations

import http.client
import os
import secrets
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SIDE = 580
"""Width and height of a picture, in pixels."""
IMAGE_BYTES = SIDE * (3 * SIDE + 1) + 500
"""An upper bound of what one picture takes in the archive."""
_BLOCK = 1 << 20
_LABELS = ("left", "right")


def noisy_png() -> bytes:
    """Draw an image of noise, which does not compress and differs from every other one."""
    rows = b"".join(b"\0" + os.urandom(3 * SIDE) for _ in range(SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def write_archive(path: Path, max_bytes: int) -> int:
    """Write a zip of two labels as large as allowed; return the number of its images."""
    count = max_bytes // IMAGE_BYTES
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(count):
            archive.writestr(f"{_LABELS[number % 2]}/{number:05d}.png", noisy_png())
    assert path.stat().st_size <= max_bytes
    return count


def post_file(issued: Mapping[str, Any], path: Path) -> tuple[int, str]:
    """Post a file with a form, as a browser does; return the bucket's status and answer."""
    boundary = secrets.token_hex(16)
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in issued["fields"].items()
    )
    head += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    tail = f"\r\n--{boundary}--\r\n".encode()

    def body() -> Iterator[bytes]:
        """Yield the form in blocks."""
        yield head.encode()
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
        yield tail

    place = urlsplit(issued["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=600)
    connection.request(
        "POST",
        place.path,
        body(),
        {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(head.encode()) + path.stat().st_size + len(tail)),
        },
    )
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, text
