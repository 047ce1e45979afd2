"""Reads the head of Linux executables and shared libraries: for which processor, what they need.

Only what the dynamic linker itself reads: program headers and the dynamic segment of 64-bit
little-endian files, so stripped files read the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\x7fELF"
_IDENT = MAGIC + b"\x02\x01"
"""64 bits, little-endian."""
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRTAB, _VERNEED, _VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
_MOST_ENTRIES = 100_000


@dataclass(frozen=True)
class ElfFile:
    """What a binary asks of the machine it is loaded on."""

    machine: int
    """The field e_machine."""
    needed: tuple[str, ...]
    """File names of shared libraries."""
    versions: tuple[str, ...]
    """Versions of symbols, such as GLIBC_2.17."""


def is_elf(path: Path) -> bool:
    """Say whether a file begins like an executable or shared library of Linux."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_elf(path: Path) -> ElfFile:
    """Read a binary.

    Raises:
        ValueError: it is cut off, broken, or not of 64 bits and little-endian.
    """
    data = path.read_bytes()
    if not data.startswith(_IDENT):
        raise ValueError("not a 64-bit little-endian ELF file")
    try:
        return _read(data)
    except (struct.error, LookupError, OverflowError, ValueError) as error:
        raise ValueError(f"a broken ELF file: {error}") from error


def _read(data: bytes) -> ElfFile:
    """Read the parts that matter; whatever lies outside of the data raises."""
    (machine,) = struct.unpack_from("<H", data, 18)
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, start + size * n) for n in range(count)]
    loads = [(h[3], h[2], h[5]) for h in headers if h[0] == _LOAD]
    dynamic = [h for h in headers if h[0] == _DYNAMIC]
    if not dynamic:
        return ElfFile(machine, (), ())
    entries = list(_entries(data, dynamic[0][2], dynamic[0][5]))
    values = dict(entries)

    def place(address: int) -> int:
        """Return where in the file an address of the loaded binary lies."""
        for virtual, offset, length in loads:
            if virtual <= address < virtual + length:
                return int(address - virtual + offset)
        raise IndexError(f"address {address:#x} lies in no segment")

    strings = place(values[_STRTAB]) if _STRTAB in values else 0

    def text(offset: int) -> str:
        """Return a text of the string table."""
        begin = strings + offset
        return data[begin : data.index(b"\0", begin)].decode()

    needed = tuple(text(value) for tag, value in entries if tag == _NEEDED)
    versions: Iterator[str] = iter(())
    if values.get(_VERNEEDNUM):
        versions = _versions(data, place(values[_VERNEED]), values[_VERNEEDNUM], text)
    return ElfFile(machine, needed, tuple(sorted(set(versions))))


def _entries(data: bytes, offset: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield tag and value of the dynamic segment's entries."""
    for position in range(offset, offset + min(length, 16 * _MOST_ENTRIES), 16):
        tag, value = struct.unpack_from("<qQ", data, position)
        if tag == 0:
            return
        yield tag, value


def _versions(data: bytes, offset: int, files: int, text: Callable[[int], str]) -> Iterator[str]:
    """Yield the symbol versions that a binary needs of each of its libraries."""
    left = _MOST_ENTRIES
    while files and left > 0:
        _, count, _, first, following = struct.unpack_from("<HHIII", data, offset)
        entry = offset + first
        for _ in range(min(count, left)):
            _, _, _, name, after = struct.unpack_from("<IHHII", data, entry)
            yield text(name)
            entry += after
        left -= count + 1
        files = files - 1 if following else 0
        offset += following
