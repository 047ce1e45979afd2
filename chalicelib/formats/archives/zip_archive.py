"""Reads zip archives safely: unpacks files only into memory, and limits unpacked sizes.

See contract section 5.
"""

from __future__ import annotations

import stat
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.name_encoding import NameGuess
from chalicelib.formats.archives.zip_directory import (
    LOCAL_HEADER_BYTES,
    Directory,
    ZipEntry,
    find_directory,
    is_junk,
    read_entries,
    with_name_encoding,
)
from chalicelib.formats.texts.encoding import name_foreign_type

_LOCAL = struct.Struct("<4s5H3L2H")
_CHUNK_BYTES = 1 << 16
_STORED, _DEFLATED = 0, 8
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK\x03\x04")
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"(\xb5/\xfd", "a Zstandard archive"),
    (b"RIFF", "a WebP image or another RIFF file"),
    (b"BM", "a BMP image"),
)
_ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
_PATCH_FLAG = 0x20
_ENCRYPTED = "the entry is encrypted; make the archive again without a password."
_DAMAGED = "the entry is damaged ({}); make the archive again."


class MemberProblem(Exception):
    """A file in an archive cannot be used. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """A file in an archive."""

    index: int
    """Position in the directory, from 0."""
    path: str
    """Path with "/" between folders. It is safe to use if `problem` is None."""
    size: int
    """Size of the content in bytes, as the archive declares it."""
    problem: str | None
    """Why the file cannot be used; None if it can be used."""
    entry: ZipEntry
    """Entry of the file in the directory of the archive."""
    end: int
    """Offset in the archive at which the next file begins."""

    @property
    def name(self) -> str:
        """Return the file name without folders."""
        return self.path.rpartition("/")[2]


def looks_like_zip(head: bytes) -> bool:
    """Return whether a file begins like a zip archive, whatever its name."""
    return head.startswith(_SIGNATURES)


def explain_foreign(head: bytes) -> str:
    """Describe a file that is not a zip archive: name its kind, and say what to send instead.

    Args:
        head: The first bytes of the file; 4,096 are enough.

    Returns:
        A sentence; "" if the file may be a zip archive. The result is also "" for unknown files and
        for programs. Self-extracting archives begin like programs.
    """
    if looks_like_zip(head) or head.startswith((b"MZ", b"\x7fELF", b"#!")):
        return ""
    known = next((name for start, name in _OTHERS if head.startswith(start)), "")
    if not known and head[257:262] == b"ustar":
        known = "a tar archive"
    known = known or name_foreign_type(head)
    if not known or "binary data" in known:
        return ""
    return (
        f"The file is not a zip archive: it looks like {known}. Send a .zip archive of PNG and "
        "JPEG images."
    )


def open_archive(file: BinaryIO, encoding: str = "") -> ZipArchive:
    """Validate an archive as a whole, without unpacking its files.

    Needs 16 bytes of memory per entry, and 1 MB for reading.

    Args:
        file: The archive, seekable, up to 2 GB. It must stay open while the archive is read.
        encoding: Code page of names that are not UTF-8; empty to guess it.

    Raises:
        InvalidZip: the file is not a zip archive, is truncated or damaged, or has several parts.
        InvalidUpload: the archive has too many entries, overlapping entries, or only encrypted
            entries.
    """
    directory = find_directory(file)
    starts, stops = array("Q"), array("Q")
    files = encrypted = 0
    has_old_names = False
    for entry in read_entries(file, directory):
        starts.append(entry.offset)
        has_old_names = has_old_names or not entry.is_utf8
        stops.append(entry.offset + LOCAL_HEADER_BYTES + len(entry.raw_name) + entry.packed_bytes)
        if not _is_skipped(entry):
            files += 1
            encrypted += bool(entry.flags & _ENCRYPTED_FLAGS)
    if files and encrypted == files:
        raise InvalidUpload(
            f"All {files:,} files of the archive are encrypted. Make it again without a password."
        )
    ends = _find_ends(starts, stops, directory.start)
    if has_old_names:
        directory = with_name_encoding(file, directory, encoding)
    return ZipArchive(file, directory, ends)


def _find_ends(starts: array[int], stops: array[int], data_end: int) -> array[int]:
    # Entries that share bytes are refused, because they are how zip bombs multiply data.
    ends = array("Q", bytes(8 * len(starts)))
    following = data_end
    for index in sorted(range(len(starts)), key=starts.__getitem__, reverse=True):
        # Overlapping entries make a small archive unpack to terabytes.
        if stops[index] > following:
            raise InvalidUpload(
                "Entries of the archive overlap: several share the same data. "
                "Make the archive again with a standard tool."
            )
        ends[index] = following
        following = starts[index]
    return ends


def _is_skipped(entry: ZipEntry) -> bool:
    return entry.is_folder or (not entry.path_problem and is_junk(entry.path))


class ZipArchive:
    """The files of an archive, which are unpacked one at a time. `open_archive` creates it."""

    def __init__(self, file: BinaryIO, directory: Directory, ends: array[int]) -> None:
        self._file = file
        self._directory = directory
        self._ends = ends

    @property
    def name_guess(self) -> NameGuess:
        """Return the guessed code page of file names. If none was guessed, `sample` is empty."""
        return self._directory.guess

    def members(self) -> Iterator[ZipMember]:
        """Yield files in the order of the directory; skip folders, hidden files and system files.

        Yields:
            Files, including unreadable files. The caller may read each file before it requests the
            next file.
        """
        for entry in read_entries(self._file, self._directory):
            if not _is_skipped(entry):
                problem = entry.path_problem or _find_problem(entry)
                end = self._ends[entry.index]
                yield ZipMember(
                    entry.index, entry.path, entry.size_bytes, problem or None, entry, end
                )

    def read(self, member: ZipMember, limit: int, remedy: str = "make it smaller.") -> bytes:
        """Return the content of a file. Its size and its CRC are checked.

        Args:
            member: A file of this archive.
            limit: Maximum size in bytes.
            remedy: What to do if the file is larger. The error text ends with it.

        Raises:
            MemberProblem: the file cannot be used.
        """
        return b"".join(self.chunks(member, limit, remedy))

    def chunks(
        self, member: ZipMember, limit: int, remedy: str = "make it smaller."
    ) -> Iterator[bytes]:
        """Yield the content of a file in chunks. Its CRC is checked only after the last chunk.

        Args:
            member: A file of this archive.
            limit: Maximum size in bytes.
            remedy: What to do if the file is larger. The error text ends with it.

        Yields:
            Chunks of at most 64 KiB. All chunks together have at most the declared size.

        Raises:
            MemberProblem: the file cannot be used.
        """
        entry = member.entry
        if member.problem:
            raise MemberProblem(member.problem)
        if entry.size_bytes > limit:
            raise MemberProblem(
                f"the file has {entry.size_bytes:,} bytes, the limit is {limit:,} "
                f"({limit / 1024**2:g} MB); {remedy}"
            )
        start = self._find_data(member)
        unpack = _unpack_stored if entry.method == _STORED else _unpack_deflated
        size = crc = 0
        for chunk in unpack(self._file, start, entry):
            size += len(chunk)
            crc = zlib.crc32(chunk, crc)
            # The declared size was checked against the limit, and a zip bomb declares too little.
            if size > entry.size_bytes:
                break
            yield chunk
        if size != entry.size_bytes:
            raise MemberProblem(_DAMAGED.format("its size is not the one announced"))
        if crc != entry.crc:
            raise MemberProblem(_DAMAGED.format("its checksum is wrong"))

    def _find_data(self, member: ZipMember) -> int:
        # The entry's own header can differ from the directory, and tools read either one.
        entry = member.entry
        self._file.seek(entry.offset)
        header = self._file.read(LOCAL_HEADER_BYTES)
        if len(header) < LOCAL_HEADER_BYTES or not header.startswith(b"PK\x03\x04"):
            raise MemberProblem(_DAMAGED.format("its header is missing"))
        fields = _LOCAL.unpack(header)
        flags, method, name_size, extra_size = fields[2], fields[3], fields[9], fields[10]
        if flags & _ENCRYPTED_FLAGS:
            raise MemberProblem(_ENCRYPTED)
        # Readers that trust the local header would see another file than the one that was checked.
        if self._file.read(name_size) != entry.raw_name or method != entry.method:
            raise MemberProblem(_DAMAGED.format("its header and the directory differ"))
        start = entry.offset + LOCAL_HEADER_BYTES + len(entry.raw_name) + int(extra_size)
        if start + entry.packed_bytes > member.end:
            raise MemberProblem(_DAMAGED.format("its data overlaps the next entry"))
        return start


def _find_problem(entry: ZipEntry) -> str:
    kind = stat.S_IFMT(entry.mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link" if kind == stat.S_IFLNK else "no regular file"
        return f"the entry is {what}; put the file itself into the archive."
    if entry.flags & _ENCRYPTED_FLAGS:
        return _ENCRYPTED
    if entry.method not in (_STORED, _DEFLATED) or entry.flags & _PATCH_FLAG:
        return (
            f"the compression method {entry.method} is not supported; "
            'make the archive again with the method "deflate" or "store".'
        )
    # No packer needs more; a stream that unpacks to nothing could otherwise be 2 GB long.
    if entry.packed_bytes > 2 * entry.size_bytes + 1024:
        return _DAMAGED.format("it is larger packed than unpacked")
    return ""


def _unpack_stored(file: BinaryIO, start: int, entry: ZipEntry) -> Iterator[bytes]:
    left = entry.packed_bytes
    while left:
        file.seek(start + entry.packed_bytes - left)
        chunk = file.read(min(left, _CHUNK_BYTES))
        if not chunk:
            return
        left -= len(chunk)
        yield chunk


def _unpack_deflated(file: BinaryIO, start: int, entry: ZipEntry) -> Iterator[bytes]:
    # One byte more than declared shows that the declared size is wrong.
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    left = entry.size_bytes + 1
    for packed in _unpack_stored(file, start, entry):
        waiting: bytes | None = packed
        while waiting is not None and left and not inflater.eof:
            try:
                chunk = inflater.decompress(waiting, min(left, _CHUNK_BYTES))
            except zlib.error:
                raise MemberProblem(_DAMAGED.format("it cannot be unpacked")) from None
            left -= len(chunk)
            # Call again without input until it returns nothing: the inflater can have buffered
            # output.
            waiting = inflater.unconsumed_tail if chunk or inflater.unconsumed_tail else None
            if chunk:
                yield chunk
    if left and not inflater.eof:
        raise MemberProblem(_DAMAGED.format("it ends too early"))
