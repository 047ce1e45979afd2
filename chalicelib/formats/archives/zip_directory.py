"""Reads the directory of a zip archive as a stream, and checks the paths of its files.

Source: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.5. See contract section 5, Upload formats.
"""

from __future__ import annotations

import re
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from chalicelib.domain.common.limits import MAX_ARCHIVE_ENTRIES
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.name_encoding import (
    DEFAULT,
    NO_GUESS,
    NameGuess,
    guess_name_encoding,
)

# Length limit of a path; file systems allow 255 characters for a single name.
MAX_PATH_CHARACTERS = 1_000
# Characters of a path that a message or receipt shows; the end is the most specific part.
SHOWN_CHARACTERS = 100

# Flag bit of names in UTF-8, and the extra field that holds a name in UTF-8.
_UTF8, _UNICODE_PATH = 0x800, 0x7075
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_JUNK_NAMES = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini"})
_MAC_FOLDER = "__MACOSX"


def decode_name(raw: bytes, extra: bytes, *, is_utf8: bool, encoding: str = DEFAULT) -> str:
    """Decode the name of a directory entry.

    Some tools write UTF-8 without setting flag bit 11. So UTF-8 is always tried first. This is
    safe, because names with umlauts in code page 437 are hardly ever valid UTF-8.

    Args:
        raw: The name as stored.
        extra: The extra fields of the entry.
        is_utf8: Whether flag bit 11 says that the name is UTF-8.
        encoding: Code page to use for a name that is not UTF-8.

    Returns:
        The name, with "/" between folders instead of backslashes.
    """
    unicode_name = None if is_utf8 else _find_unicode_path(raw, extra)
    try:
        name = unicode_name or raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            name = raw.decode(encoding)
        except UnicodeDecodeError:
            name = raw.decode(DEFAULT)
    return name.replace("\\", "/")


def _find_unicode_path(raw: bytes, extra: bytes) -> str | None:
    # A tool that renamed the entry leaves the old UTF-8 name, whose checksum then differs.
    field = find_extra(extra, _UNICODE_PATH)
    if field is None or len(field) < 6 or field[0] != 1:
        return None
    if struct.unpack_from("<L", field, 1)[0] != zlib.crc32(raw):
        return None
    try:
        return field[5:].decode("utf-8")
    except UnicodeDecodeError:
        return None


def find_extra(extra: bytes, kind: int) -> bytes | None:
    """Return the content of an extra field; None if the entry does not have the field.

    Args:
        extra: All extra fields of an entry. An incomplete field is ignored.
        kind: Header ID of the extra field.
    """
    at = 0
    while at + 4 <= len(extra):
        found, size = struct.unpack_from("<HH", extra, at)
        if found == kind:
            content = extra[at + 4 : at + 4 + size]
            return content if len(content) == size else None
        at += 4 + size
    return None


def find_path_problem(name: str) -> str:
    """Return why a file name is refused; "" if it is a path that stays inside the archive.

    Args:
        name: Name as returned by decode_name.
    """
    if len(name) > MAX_PATH_CHARACTERS:
        return (
            f"the path has {len(name):,} characters, the limit is {MAX_PATH_CHARACTERS:,}; "
            "shorten the names of files and folders."
        )
    if _CONTROL.search(name):
        return "the path holds a control character; rename the file."
    if name.startswith("/") or _DRIVE.match(name):
        return "the path is absolute; zip the folder from above it, with paths relative to it."
    if ".." in name.split("/"):
        return 'the path leads out of the archive by ".."; zip the folder from above it.'
    return ""


def clean_path(name: str) -> str:
    """Remove empty parts and "." parts from a valid path."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_junk(path: str) -> bool:
    """Return whether a file, such as Thumbs.db, was probably added by an operating system.

    Args:
        path: Path as returned by clean_path; empty for the root folder.
    """
    parts = path.split("/")
    return (
        parts[-1].lower() in _JUNK_NAMES
        or _MAC_FOLDER in parts
        or any(part.startswith(".") and part != ".." for part in parts)
    )


def show_path(path: str) -> str:
    """Return a path for a message: printable, and only its end if it is long."""
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", path)
    return shown if len(shown) <= SHOWN_CHARACTERS else f"…{shown[1 - SHOWN_CHARACTERS :]}"


# Size limit of the directory: 320 bytes for each of 100,000 entries, of which names use 274.
MAX_DIRECTORY_BYTES = 32 * 1024 * 1024
# Size of the fixed part of the header before each entry's data.
LOCAL_HEADER_BYTES = 30

_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s4B4HL2L5H2L")
_MAX_COMMENT_BYTES = 0xFFFF
_WINDOW_BYTES = 1 << 18
# Placeholders in the old fields of an archive whose true numbers are in its zip64 record.
_MANY = 0xFFFF
_HUGE = 0xFFFF_FFFF


class InvalidZip(InvalidUpload):
    """The file is not a zip archive or is damaged. The message says why and what to do."""

    code = "invalid_zip"

    def __init__(self, cause: str) -> None:
        super().__init__(f"The file is not a usable zip archive: {cause}")
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Directory:
    """The position and properties of the directory in a zip archive."""

    start: int
    """Offset of the first entry in the file."""
    size_bytes: int
    """Size of all entries of the directory, in bytes."""
    count: int
    """Number of entries as declared; archives without zip64 declare it modulo 65,536."""
    shift: int
    """Number of bytes before the archive in the file. It must be added to stored offsets."""
    name_encoding: str = DEFAULT
    """Code page of the names that are not UTF-8."""
    guess: NameGuess = NO_GUESS
    """The guess that set `name_encoding`; `guess.sample` is empty if no guess was needed."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """An entry of the directory of a zip archive."""

    index: int
    """Position of the entry in the directory, from 0."""
    path: str
    """Path with "/" between folders; cleaned if `path_problem` is empty."""
    path_problem: str
    """Why the path is refused; empty if it is valid."""
    raw_name: bytes
    """The name as stored."""
    flags: int
    """General purpose bit flags of the zip format."""
    method: int
    """Compression method."""
    crc: int
    """CRC-32 of the content."""
    packed_bytes: int
    """Size of the compressed content in bytes."""
    size_bytes: int
    """Size of the content in bytes."""
    offset: int
    """Offset of the local header in the file."""
    mode: int
    """Unix file mode; 0 if the archive has none."""
    is_folder: bool
    """Whether the entry is a folder."""

    @property
    def is_utf8(self) -> bool:
        """Return whether the name is UTF-8, by its flag or its bytes."""
        if self.flags & _UTF8 or self.raw_name.isascii():
            return True
        try:
            self.raw_name.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True


def find_directory(file: BinaryIO) -> Directory:
    """Search for the directory from the end of the file; refuse a directory that is too large.

    Returns:
        The position of the directory, which is inside the file.

    Raises:
        InvalidZip: the file is not a zip archive, is truncated, or has several parts.
        InvalidUpload: the archive has too many entries, or names that are too long.
    """
    end_at, (_, disk, first_disk, _, count, size, offset, _) = _find_end(file)
    stop = end_at
    big = _find_end64(file, end_at)
    if big is not None:
        stop, (_, _, _, _, disk, first_disk, _, count, size, offset) = big
    if disk not in (0, _MANY) or first_disk not in (0, _MANY):
        raise InvalidZip("it is one part of several. Send the archive as a single file.")
    if count > MAX_ARCHIVE_ENTRIES:
        raise too_many_entries(count)
    if size > MAX_DIRECTORY_BYTES:
        raise InvalidUpload(
            f"The names in the archive take {size:,} bytes; at most {MAX_DIRECTORY_BYTES:,} are "
            "allowed. Shorten the names of files and folders, or split the archive."
        )
    return _locate(file, (stop, count, size, offset))


def too_many_entries(count: int) -> InvalidUpload:
    """Return the error for an archive that has too many entries."""
    return InvalidUpload(
        f"The archive has {count:,} entries or more; at most {MAX_ARCHIVE_ENTRIES:,} are allowed. "
        "Split it into several archives and add them one by one."
    )


def _locate(file: BinaryIO, end_record: tuple[int, int, int, int]) -> Directory:
    """Return the directory's position: directly before its end record, or at the stored offset."""
    stop, count, size, offset = end_record
    shift = stop - size - offset
    if shift and (shift < 0 or not _is_entry_at(file, stop - size)):
        # Some tools put a signature between the directory and its end record.
        shift = 0
    start = offset + shift
    if start + size > stop or (count and not _is_entry_at(file, start)):
        raise InvalidZip(
            "its directory is not where it should be. The file may be damaged or cut short; "
            "make the archive again."
        )
    return Directory(start, size, count, shift)


def _is_entry_at(file: BinaryIO, at: int) -> bool:
    if at < 0:
        return False
    file.seek(at)
    return file.read(4) == b"PK\x01\x02"


def _find_end(file: BinaryIO) -> tuple[int, tuple[int, ...]]:
    # A comment can contain the signature, so the record must end at the end of the file.
    file_bytes = file.seek(0, 2)
    tail_at = max(0, file_bytes - _MAX_COMMENT_BYTES - _END.size)
    file.seek(tail_at)
    tail = file.read(_MAX_COMMENT_BYTES + _END.size)
    last = at = tail.rfind(_END_SIGNATURE, 0, max(0, len(tail) - _END.size + 4))
    while at >= 0:
        record = _END.unpack_from(tail, at)
        # A comment may hold the signature; the true record is the one whose comment fills the file.
        if at + _END.size + record[-1] == len(tail):
            return tail_at + at, record
        at = tail.rfind(_END_SIGNATURE, 0, at)
    if last < 0:
        raise InvalidZip(
            "it has no directory at its end. It is of another kind, or was cut short; "
            "send a .zip archive, whole."
        )
    return tail_at + last, _END.unpack_from(tail, last)


def _find_end64(file: BinaryIO, end_at: int) -> tuple[int, tuple[int, ...]] | None:
    """Return position and content of the zip64 end record before `end_at`; None if missing."""
    locator_at = end_at - _LOCATOR.size
    if locator_at < 0:
        return None
    file.seek(locator_at)
    signature, _, named_at, disks = _LOCATOR.unpack(file.read(_LOCATOR.size))
    if signature != b"PK\x06\x07":
        return None
    if disks > 1:
        raise InvalidZip("it is one part of several. Send the archive as a single file.")
    for at in (locator_at - _END64.size, named_at):
        if 0 <= at <= locator_at - _END64.size:
            file.seek(at)
            record = _END64.unpack(file.read(_END64.size))
            if record[0] == b"PK\x06\x06":
                return at, record
    raise InvalidZip("its zip64 end record is missing. The file is damaged; make it again.")


def read_entries(file: BinaryIO, directory: Directory) -> Iterator[ZipEntry]:
    """Yield the entries one by one, in the order of the directory.

    The caller may read other parts of the file before it requests the next entry.

    Raises:
        InvalidZip: the directory is damaged.
        InvalidUpload: the directory has too many entries, although it declares fewer.
    """
    window = b""
    at, left, index = 0, directory.size_bytes, 0
    while left > 0:
        if len(window) - at < min(left, _WINDOW_BYTES):
            file.seek(directory.start + directory.size_bytes - left)
            window, at = file.read(min(left, 4 * _WINDOW_BYTES)), 0
        # The declared number was checked before, but it can be false.
        if index >= MAX_ARCHIVE_ENTRIES:
            raise too_many_entries(index + 1)
        entry, used = _parse_entry(window, at, index, directory)
        yield entry
        at, left, index = at + used, left - used, index + 1
    # The 16-bit count of a small end record wraps around.
    if index != directory.count and index % (_MANY + 1) != directory.count:
        raise InvalidZip(
            f"its directory announces {directory.count:,} entries and holds {index:,}. "
            "The file is damaged; make the archive again."
        )


def with_name_encoding(file: BinaryIO, directory: Directory, code_page: str) -> Directory:
    """Set the code page of the file names in a directory to `code_page`, or guess the code page.

    Args:
        file: The zip archive, seekable.
        directory: Directory as returned by find_directory.
        code_page: The requested code page; empty to guess.

    Raises:
        InvalidUpload: a name cannot be decoded with the requested code page.
    """
    names = (entry.raw_name for entry in read_entries(file, directory) if not entry.is_utf8)
    if not code_page:
        guess = guess_name_encoding(names)
        return replace(directory, name_encoding=guess.encodings[0], guess=guess)
    for name in names:
        try:
            name.decode(code_page)
        except UnicodeDecodeError:
            shown = show_path(name.decode(DEFAULT))
            raise InvalidUpload(
                f"The name of the file {shown} is not {code_page}. Leave 'encoding' out to let it "
                "be recognised, or name another encoding."
            ) from None
    return replace(directory, name_encoding=code_page)


def _parse_entry(window: bytes, at: int, index: int, directory: Directory) -> tuple[ZipEntry, int]:
    """Parse the entry at offset `at` of `window`; return the entry and its length in bytes."""
    if len(window) - at < _ENTRY.size or window[at : at + 4] != b"PK\x01\x02":
        raise _damaged(index)
    fields = _ENTRY.unpack_from(window, at)
    flags, method, crc, packed, size = fields[5], fields[6], fields[9], fields[10], fields[11]
    name_size, extra_size, comment_size = fields[12:15]
    name_at = at + _ENTRY.size
    used = _ENTRY.size + name_size + extra_size + comment_size
    if at + used > len(window):
        raise _damaged(index)
    raw_name = window[name_at : name_at + name_size]
    extra = window[name_at + name_size : name_at + name_size + extra_size]
    size, packed, offset = _widened(extra, (size, packed, fields[18]), index)
    is_utf8 = bool(flags & _UTF8)
    if not is_utf8 and _find_unicode_path(raw_name, extra):
        flags |= _UTF8
    name = decode_name(raw_name, extra, is_utf8=is_utf8, encoding=directory.name_encoding)
    problem = find_path_problem(name)
    mode = fields[17] >> 16
    is_folder = name.endswith("/") or (stat.S_ISDIR(mode) and size == 0)
    offset += directory.shift
    if offset + LOCAL_HEADER_BYTES + name_size + packed > directory.start:
        raise InvalidZip(
            f"entry {index + 1:,} of its directory points outside of the data. "
            "The file is damaged or cut short; make the archive again."
        )
    path = name if problem else clean_path(name)
    entry = ZipEntry(
        index, path, problem, raw_name, flags, method, crc, packed, size, offset, mode, is_folder
    )
    return entry, used


def _widened(extra: bytes, sizes: tuple[int, int, int], index: int) -> tuple[int, int, int]:
    """Return `sizes` (two sizes and an offset), with large values read from the zip64 field."""
    if _HUGE not in sizes:
        return sizes
    content = find_extra(extra, 1) or b""
    wide = iter(struct.unpack_from(f"<{min(3, len(content) // 8)}Q", content))
    try:
        size, packed, offset = (next(wide) if value == _HUGE else value for value in sizes)
    except (StopIteration, RuntimeError):
        raise _damaged(index) from None
    return size, packed, offset


def _damaged(index: int) -> InvalidZip:
    return InvalidZip(
        f"its directory cannot be read from entry {index + 1:,} on. "
        "The file is damaged; make the archive again."
    )
