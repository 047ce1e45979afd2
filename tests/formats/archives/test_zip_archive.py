"""Reading untrusted zip archives."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.errors import InvalidUpload, ServiceError
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    ZipMember,
    explain_foreign,
    looks_like_zip,
    open_archive,
)
from chalicelib.formats.archives.zip_directory import InvalidZip
from tests.formats.archives.raw_archives import Raw, deflate, raw_zip, zip64_end
from tests.full_size import size
from tests.pictures import draw, label_folders, make_zip

VALID = make_zip(label_folders({"circle": 2, "square": 2}))
TEXT = bytes(range(256)) * 400


def _open(content: bytes) -> ZipArchive:
    """Open an archive in memory."""
    return open_archive(io.BytesIO(content))


def _only(content: bytes) -> tuple[ZipArchive, ZipMember]:
    """Open an archive of one file."""
    archive = _open(content)
    (member,) = archive.members()
    return archive, member


def _read(content: bytes, limit: int = 1 << 20) -> bytes:
    """Read the only file of an archive."""
    archive, member = _only(content)
    return archive.read(member, limit)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_content_of_every_file(method: int) -> None:
    """Files are listed in directory order and can be read in any order."""
    rng = random.Random(7)
    files = {
        f"a/{size}.bin": rng.randbytes(size // 2) + bytes(size - size // 2)
        for size in (0, 1, 255, 65_535, 65_536, 65_537, 300_000)
    }
    archive = _open(make_zip(files, method=method))

    members = list(archive.members())

    assert [member.path for member in members] == list(files)
    assert [member.size for member in members] == [len(content) for content in files.values()]
    for member in reversed(members):
        assert archive.read(member, 300_000) == files[member.path]


def test_highly_compressible_content() -> None:
    """Data that the inflater buffers at the end of its input is not lost."""
    for length in (65_535, 65_536, 65_537, 131_072, 1 << 20):
        assert _read(raw_zip([Raw(b"a", bytes(length))])) == bytes(length)


def test_members_while_reading() -> None:
    """Listing and reading may alternate, also beyond the window of the directory."""
    files = {f"{'folder' * 20}/{number}.bin": b"%d" % number for number in range(6_000)}
    archive = _open(make_zip(files))

    assert [archive.read(member, 10) for member in archive.members()] == list(files.values())


def test_what_is_left_out_without_a_word() -> None:
    """Folders, resource forks, dot files and system files are skipped silently."""
    junk = ["a/", "__MACOSX/a/._1.png", "a/.DS_Store", ".git/x", "a/Thumbs.db", "Desktop.ini"]
    content = make_zip([(name, b"" if name.endswith("/") else b"x") for name in [*junk, "a/1.png"]])

    assert [member.path for member in _open(content).members()] == ["a/1.png"]


@pytest.mark.parametrize(
    ("raw", "flags", "extra", "path"),
    [
        (b"caf\x82/\x81.png", 0, b"", "café/ü.png"),
        ("café/ü.png".encode(), 0x800, b"", "café/ü.png"),
        ("café/猫😀.png".encode(), 0, b"", "café/猫😀.png"),
        ("😀/🐈.png".encode(), 0x800, b"", "😀/🐈.png"),
        (b"broken\xff/\x82.png", 0x800, b"", "broken\xa0/é.png"),
        (b"folder\\file.png", 0, b"", "folder/file.png"),
        (b"./a//b/./c.png", 0, b"", "a/b/c.png"),
        (
            b"?.png",
            0,
            struct.pack("<HHBL", 0x7075, 5 + 8, 1, zlib.crc32(b"?.png")) + "猫😊x".encode()[:8],
            "猫😊x",
        ),
        (b"a.png", 0, struct.pack("<HHBL", 0x7075, 6, 1, 1) + b"b", "a.png"),
        (b"a.png", 0, b"\x75\x70\xff\xff\x01", "a.png"),
    ],
)
def test_names(raw: bytes, flags: int, extra: bytes, path: str) -> None:
    """CP437, declared and undeclared UTF-8, Unicode path fields and backslashes are decoded."""
    archive, member = _only(raw_zip([Raw(raw, b"x", flags=flags, extra=extra)]))

    assert (member.path, member.problem) == (path, None)
    assert archive.read(member, 1) == b"x"


def test_a_unicode_path_field_leaves_nothing_to_guess() -> None:
    """A name with a valid Unicode path field causes no encoding warning."""
    raw, name = "Balık.png".encode("cp857"), "Balık.png".encode()
    extra = struct.pack("<HHBL", 0x7075, 5 + len(name), 1, zlib.crc32(raw)) + name
    archive, member = _only(raw_zip([Raw(raw, b"x", extra=extra)]))

    assert (member.path, archive.name_guess.sample) == ("Balık.png", b"")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Raw(b"../a.png"), "leads out"),
        (Raw(b"a/../../b.png"), "leads out"),
        (Raw(b"a\\..\\b.png"), "leads out"),
        (Raw(b"/etc/a.png"), "absolute"),
        (Raw(b"\\\\host\\a.png"), "absolute"),
        (Raw(b"C:\\a.png"), "absolute"),
        (Raw(b"a\x00.png"), "control character"),
        (Raw(b"a/" * 600 + b"b"), "1,201 characters, the limit is 1,000"),
        (Raw(b"a", b"/etc/passwd", mode=0o120777), "a link"),
        (Raw(b"a", mode=0o020666), "no regular file"),
        (Raw(b"a", b"x", method=12), "compression method 12 is not supported"),
        (Raw(b"a", b"x", method=99), "compression method 99 is not supported"),
        (Raw(b"a", b"x", flags=0x20), "compression method 8 is not supported"),
        (Raw(b"a", b"x", crc=1), "checksum is wrong"),
        (Raw(b"a", b"xyz", size=2), "size is not the one announced"),
        (Raw(b"a", b"xyz", size=4), "size is not the one announced"),
        (Raw(b"a", b"xyz", method=0, size=4), "size is not the one announced"),
        (Raw(b"a", b"xyz", packed=deflate(b"xyz")[:-1]), "ends too early"),
        (Raw(b"a", b"xyz", packed=b"\xff\xff\xff"), "cannot be unpacked"),
        (Raw(b"a", b"x", packed=b"\x00\x00\x00\xff\xff" * 5_000), "larger packed"),
        (Raw(b"a", b"x", local_name=b"b"), "header and the directory differ"),
        (Raw(b"a", b"x" * 11), "11 bytes, the limit is 10"),
    ],
)
def test_entry_that_cannot_be_used(entry: Raw, words: str) -> None:
    """An invalid entry is rejected with its reason; the others are read."""
    archive = _open(raw_zip([entry, Raw(b"good/1.png", b"fine")]))
    bad, good = archive.members()

    with pytest.raises(MemberProblem, match=words):
        archive.read(bad, 10)
    assert archive.read(good, 10) == b"fine"


def test_encrypted_entry_among_others() -> None:
    """An encrypted file is rejected; an archive of only encrypted files is refused."""
    secret, plain = Raw(b"a.png", b"x", flags=1), Raw(b"b.png", b"y")
    archive = _open(raw_zip([secret, plain]))

    assert [bool(member.problem) for member in archive.members()] == [True, False]
    with pytest.raises(InvalidUpload, match="All 1 files of the archive are encrypted"):
        _open(raw_zip([secret, Raw(b"folder/", b"")]))


def test_encryption_that_only_the_local_header_declares() -> None:
    """A file that only its local header declares as encrypted is rejected."""
    content = bytearray(raw_zip([Raw(b"a.png", b"x")]))
    content[6] |= 1

    with pytest.raises(MemberProblem, match="encrypted"):
        _read(bytes(content))


def test_never_unpacks_more_than_announced() -> None:
    """A bomb that understates its size is stopped one byte after that size."""
    archive, member = _only(raw_zip([Raw(b"a", bytes(50 << 20), size=100_000)]))
    taken = 0

    with pytest.raises(MemberProblem, match="size is not the one announced"):  # noqa: PT012
        for chunk in archive.chunks(member, 1 << 20):
            taken += len(chunk)
    assert taken <= 100_000


def test_overlapping_entries() -> None:
    """An archive with entries that share data is refused."""
    body = Raw(b"a", bytes(1_000_000))
    same = [body, *[Raw(b"b%d" % i, body.content, packed=b"", offset=0) for i in range(50)]]
    inner = Raw(b"b", b"inner")
    quoted = Raw(b"a", packed=inner.local(), method=0)
    entries = [quoted, Raw(b"b", b"inner", packed=b"", packed_size=7, offset=31)]

    for hostile in (raw_zip(same), raw_zip(entries)):
        with pytest.raises(InvalidUpload, match="overlap"):
            _open(hostile)


def test_overlap_by_a_long_local_header() -> None:
    """A local header that is longer than declared cannot overlap the next entry."""
    first = Raw(b"a", b"x" * 40, method=0, local_extra=b"")
    content = bytearray(raw_zip([first, Raw(b"b", b"y" * 100, method=0)]))
    content[28:30] = struct.pack("<H", 60)
    archive = _open(bytes(content))

    with pytest.raises(MemberProblem, match="overlap"):
        archive.read(next(archive.members()), 100)


def test_zip64_archive() -> None:
    """64-bit sizes and offsets of entries and end record are read."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.txt", "w", force_zip64=True) as to:
        to.write(TEXT)
    wide = struct.pack("<HHQQQ", 1, 24, 5, 5, 0)
    entry = Raw(b"b.txt", b"hello", method=0, extra=wide, offset=0xFFFF_FFFF)
    local = entry.local()
    entry.size = entry.packed_size = 0xFFFF_FFFF
    large = local + entry.central(0) + zip64_end(1, len(entry.central(0)), len(local))

    assert _read(file.getvalue()) == TEXT
    assert _read(large) == b"hello"
    assert _read(b"#!/bin/sh\n" + large) == b"hello"


@pytest.mark.parametrize("shift", [0, 500])
def test_data_in_front_of_the_archive(shift: int) -> None:
    """Self-extracting archives are read, with either kind of offsets."""
    content = raw_zip([Raw(b"a.txt", TEXT)], before=b"MZ" + bytes(498), shift=shift)

    assert _read(content) == TEXT


def test_comment_and_bytes_behind_the_archive() -> None:
    """An archive comment that looks like an end record, and trailing bytes, are accepted."""
    end = raw_zip([])
    plain = raw_zip([Raw(b"a.txt", TEXT)])

    assert _read(raw_zip([Raw(b"a.txt", TEXT)], comment=b"made by " + end[:8])) == TEXT
    assert _read(plain + b"\r\n--stray") == TEXT


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no directory at its end"),
        (b"no zip", "no directory at its end"),
        (draw(), "no directory at its end"),
        (VALID[:-30], "no directory at its end"),
        (VALID[: len(VALID) // 2], "no directory at its end"),
        (VALID[200:], "points outside|is not where it should be"),
        (raw_zip([Raw(b"a")], disk=1), "one part of several"),
        (raw_zip([Raw(b"a")], count=5), "announces 5 entries and holds 1"),
        (raw_zip([Raw(b"a", offset=10_000)]), "entry 1 of its directory points outside"),
        (raw_zip([Raw(b"a", packed_size=10_000)]), "points outside"),
        (raw_zip([Raw(b"a", size=0xFFFF_FFFF)]), "cannot be read from entry 1"),
        (VALID.replace(b"PK\x01\x02", b"XK\x01\x02"), "not where it should be"),
        (VALID[:-60] + VALID[-22:], "not where it should be|cannot be read"),
    ],
)
def test_no_usable_archive(content: bytes, words: str) -> None:
    """A foreign, truncated or damaged file is refused with what it is and the remedy."""
    with pytest.raises(InvalidZip, match=words) as refusal:
        list(_open(content).members())

    assert refusal.value.cause in str(refusal.value)


def test_missing_large_end_record() -> None:
    """If the 64-bit end record is missing, the 32-bit one is not trusted."""
    large = b"x" * 100 + zip64_end(0, 0, 100)

    with pytest.raises(InvalidZip, match="zip64 end record is missing"):
        _open(large.replace(b"PK\x06\x06", b"XK\x06\x06"))
    with pytest.raises(InvalidZip, match="one part of several"):
        _open(large[:-26] + struct.pack("<L", 2) + large[-22:])


def test_too_long_directory() -> None:
    """A directory of more than 32 MB is refused before it is read."""
    end = zip64_end(10, 33 << 20, 0)

    with pytest.raises(InvalidUpload, match="34,603,008 bytes; at most 33,554,432"):
        _open(end)


def _repeated(count: int) -> bytes:
    """Write an archive whose directory names one empty file again and again."""
    entry = Raw(b"a.png", method=0)
    start, directory = entry.local(), entry.central(0) * count
    end = (0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), len(start), 0)
    return start + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", *end)


def test_more_entries_than_allowed() -> None:
    """100,001 entries are refused by the end record alone, or by counting if it is wrong."""
    with pytest.raises(InvalidUpload, match="100,001 entries or more; at most 100,000"):
        _open(zip64_end(100_001, 0, 0))
    with pytest.raises(InvalidUpload, match="100,001 entries or more; at most 100,000"):
        _open(_repeated(100_001))


def test_first_bytes() -> None:
    """The first bytes identify a zip archive, or name a known other type."""
    assert looks_like_zip(VALID)
    assert looks_like_zip(raw_zip([]))
    assert not looks_like_zip(draw())
    assert not looks_like_zip(b"")
    for head in (VALID, raw_zip([]), b"MZ\x90\x00", b"", b"\x01\x02 unknown" * 20, b"a,b\r\n"):
        assert explain_foreign(head) == ""
    named = {
        draw(): "a PNG image",
        draw(kind="JPEG"): "a JPEG image",
        b"GIF89a": "a GIF image",
        b"<!DOCTYPE html><p>": "an HTML page",
        b"\x1f\x8b\x08": "a gzip archive",
        b"7z\xbc\xaf\x27\x1c": "a 7z archive",
        b"Rar!\x1a\x07\x01": "a RAR archive",
        b"x" * 257 + b"ustar\x00": "a tar archive",
    }
    for head, name in named.items():
        assert explain_foreign(head) == (
            f"The file is not a zip archive: it looks like {name}. Send a .zip archive of PNG and "
            "JPEG images."
        )


@hypothesis_settings(max_examples=size(100, 300), deadline=2_000)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), min_size=1, max_size=8
    ),
    cut=st.tuples(st.integers(0, len(VALID)), st.integers(0, 40)),
    is_cut=st.booleans(),
)
def test_mutated_archive(
    changes: list[tuple[int, int]], cut: tuple[int, int], is_cut: bool
) -> None:
    """Any mutated archive gives files or a documented refusal, and ends."""
    content = bytearray(VALID)
    for at, value in changes:
        content[at] = value
    if is_cut:
        del content[cut[0] : cut[0] + cut[1]]
    with suppress(ServiceError):
        archive = _open(bytes(content))
        for member in archive.members():
            with suppress(MemberProblem):
                assert len(archive.read(member, 1 << 16)) <= 1 << 16
