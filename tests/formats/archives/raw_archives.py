"""Builds archives that no usual tool makes, and measures the cost of reading them."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """
import json, os, sys, time
from chalicelib.formats.pictures.reading import check_picture
from chalicelib.formats.archives.picture_scan import ImageRules, Sink, scan_images
from chalicelib.errors import ServiceError
from tests.pictures import draw

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))

def scanned(path, kind):
    idle, start, text, scan = peak(), time.process_time(), "", None
    with open(path, "rb") as file:
        try:
            scan = scan_images(file, ImageRules(kind), Sink(lambda *_: None, lambda: None))
        except ServiceError as refusal:
            text = str(refusal)
    numbers = [scan.kept, scan.duplicates, scan.rejected] if scan else []
    return [text, numbers, peak() - idle, time.process_time() - start]

check_picture(draw(), 1 << 20)
for line in sys.stdin:
    if not os.fork():
        print(json.dumps(scanned(*json.loads(line))), flush=True)
        os._exit(0)
    if os.wait()[1]:
        print("null", flush=True)
"""


@dataclass
class Raw:
    """One entry as it is written; what is None follows from the content."""

    name: bytes
    content: bytes = b""
    packed: bytes | None = None
    method: int = 8
    flags: int = 0
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    mode: int = 0o100644
    extra: bytes = b""
    local_name: bytes | None = None
    local_extra: bytes = b""
    offset: int | None = None
    version: int = 20

    def __post_init__(self) -> None:
        if self.packed is None:
            self.packed = deflate(self.content) if self.method == 8 else self.content
        self.crc = zlib.crc32(self.content) if self.crc is None else self.crc
        self.size = len(self.content) if self.size is None else self.size
        if self.packed_size is None:
            self.packed_size = len(self.packed)

    def local(self) -> bytes:
        """Local header and data."""
        name = self.name if self.local_name is None else self.local_name
        head = struct.pack(
            "<4s5H3L2H",
            *(b"PK\x03\x04", self.version, self.flags, self.method, 0, 0),
            *(self.crc, self.packed_size & 0xFFFFFFFF, self.size & 0xFFFFFFFF),
            *(len(name), len(self.local_extra)),
        )
        return head + name + self.local_extra + self.packed

    def central(self, offset: int) -> bytes:
        """Entry of the directory."""
        return (
            struct.pack(
                "<4s4B4HL2L5H2L",
                *(b"PK\x01\x02", 20, 3, self.version, 0, self.flags, self.method, 0, 0),
                *(self.crc, self.packed_size, self.size),
                *(len(self.name), len(self.extra), 0, 0, 0),
                *(self.mode << 16, offset if self.offset is None else self.offset),
            )
            + self.name
            + self.extra
        )


def deflate(content: bytes) -> bytes:
    """Compress without a header, as archives do."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def raw_zip(
    entries: Iterable[Raw],
    *,
    before: bytes = b"",
    shift: int = 0,
    count: int | None = None,
    disk: int = 0,
    comment: bytes = b"",
) -> bytes:
    """Write an archive.

    Args:
        entries: the entries.
        before: bytes in front of the archive.
        shift: added to every offset that is named; `len(before)` makes them offsets in the file.
        count: number of entries that is announced.
        disk: number of this part.
        comment: of the archive.
    """
    data, directory, number = io.BytesIO(), io.BytesIO(), 0
    for entry in entries:
        directory.write(entry.central(data.tell() + shift))
        data.write(entry.local())
        number += 1
    named = number if count is None else count
    end = struct.pack(
        "<4s4H2LH",
        *(b"PK\x05\x06", disk, disk, named & 0xFFFF, named & 0xFFFF),
        *(directory.tell(), data.tell() + shift, len(comment)),
    )
    return before + data.getvalue() + directory.getvalue() + end + comment


def zip64_end(count: int, directory_bytes: int, offset: int) -> bytes:
    """Write the end records of a large archive, the small one with nothing but marks."""
    record = struct.pack(
        "<4sQ2H2L4Q",
        *(b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, directory_bytes, offset),
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, offset + directory_bytes, 1)
    marks = (0xFFFF, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF, 0)
    return record + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *marks)


Cost = tuple[str, list[int], int, float]
"""Text of a refusal, numbers kept, duplicates and rejected, megabytes above idle, and seconds."""


@contextmanager
def measuring() -> Iterator[Callable[[Path, str], Cost]]:
    """Return a function that scans an archive of a dataset type in a separate process.

    Each is the fork of one that has imported everything, so its memory is counted from there.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def measure(path: Path, dataset_type: str) -> Cost:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([str(path), dataset_type]) + "\n")
            process.stdin.flush()
            cost: Cost | None = json.loads(process.stdout.readline())
            assert cost is not None, "the scan failed"
            return cost

        yield measure
