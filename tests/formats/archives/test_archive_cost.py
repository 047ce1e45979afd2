"""Hostile archives are read in bounded time and memory."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.formats.archives.raw_archives import Cost, Raw, deflate, measuring, raw_zip, zip64_end
from tests.formats.drawn import zeros
from tests.full_size import size
from tests.pictures import a_box, annotations, draw, make_zip

MAX_MEGABYTES = 300
MAX_SECONDS = 30.0
GOOD = Raw(b"cat/1.png", draw())
_ENTRIES = size(10_000, 100_000)
"""Of the archive that is read whole; as many as are allowed in `make growth`."""
_ROWS = size(100_000, 400_000)
"""With a quote that is never closed."""
Measure = Callable[[Path, str], Cost]


@pytest.fixture(scope="module")
def measure() -> Iterator[Measure]:
    """Scans an archive in a separate process."""
    with measuring() as measure:
        yield measure


@cache
def _zeros(count: int) -> Raw:
    """Return compressed zeros without compressing them one by one."""
    packed = zeros(count)[2:-4]  # without the head and the end that an archive does not have
    return Raw(b"0.png", packed=packed, size=count, crc=zlib.crc32(bytes(count)))


def _flat_bomb() -> bytes:
    """40 entries that unpack to 100 MB each, half of them say so."""
    entry = _zeros(100 << 20)
    return raw_zip(
        [
            GOOD,
            *(
                Raw(
                    b"cat/b%d.png" % number,
                    packed=entry.packed,
                    size=entry.size if number % 2 else 1 << 20,
                    crc=entry.crc,
                )
                for number in range(40)
            ),
        ]
    )


def _nested_bomb() -> bytes:
    """Make archives in archives, 16 in each of six levels, as in 42.zip."""
    content = raw_zip([_zeros(100 << 20)])
    for level in range(5):
        content = make_zip({f"cat/{level}-{number}.zip": content for number in range(16)})
        if len(content) > 900_000:
            break
    return make_zip({"cat/1.png": draw(), "cat/nested.zip": content})


def _overlapping_bomb() -> bytes:
    """50,000 entries that share one run of zeros."""
    kernel = Raw(b"cat/1.png", bytes(1 << 20))
    others = (
        Raw(b"cat/%06d.png" % number, b"", packed=b"", packed_size=len(kernel.packed), offset=0)
        for number in range(50_000)
    )
    return raw_zip([kernel, *others])


def _encrypted() -> bytes:
    """Make an archive with a password."""
    return raw_zip([Raw(b"cat/%d.png" % number, b"x" * 500, flags=1) for number in range(9)])


def _annotations_bomb() -> bytes:
    """Return an annotations file that unpacks to 300 MB."""
    return raw_zip([Raw(b"annotations.csv", b"," * 1_000_000, size=300 << 20), GOOD])


def _lying_annotations() -> bytes:
    """Return an annotations file that unpacks to far more than it declares."""
    return raw_zip([Raw(b"annotations.csv", b"," * (60 << 20), size=1_000), GOOD])


def _wide_annotations() -> bytes:
    """Return an annotations file with one row of 60 MB of empty cells."""
    return make_zip({"annotations.csv": b"x,y\r\n1.png" + b"," * (60 << 20), "1.png": draw()})


def _open_quotes() -> bytes:
    """Quotes that are never closed, row after row."""
    row = b'1.png,"{""label"": ""a""\r\n'
    return make_zip({"annotations.csv": b"image,box0\r\n" + row * _ROWS, "1.png": draw()})


def _empty_blocks() -> bytes:
    """Return empty deflate blocks, which never produce output."""
    blocks = b"\x00\x00\x00\xff\xff" * 4_000_000
    return raw_zip([GOOD, Raw(b"cat/2.png", b"x", packed=blocks, size=1 << 20)])


def _long_names() -> bytes:
    """Return an archive whose directory is full of long names."""
    names = (b"cat/%05d-%s.png" % (number, b"n" * 30_000) for number in range(1_000))
    return raw_zip([GOOD, *(Raw(name, b"x", method=0) for name in names)])


@pytest.mark.parametrize(
    ("make", "type_", "words", "numbers"),
    [
        (_flat_bomb, "image", "", [1, 0, 40]),
        (_nested_bomb, "image", "", [1, 0, 1]),
        (_overlapping_bomb, "image", "overlap", []),
        (_encrypted, "image", "All 9 files of the archive are encrypted", []),
        (_annotations_bomb, "image-detection", "the limit is 268,435,456 (256 MB)", []),
        (_lying_annotations, "image-detection", "annotations.csv cannot be read", []),
        (_wide_annotations, "image-detection", "the row is longer than 2,000,000 characters", []),
        (_open_quotes, "image-detection", f"None of the {_ROWS + 1:,} boxes and images", []),
        (_empty_blocks, "image", "", [1, 0, 1]),
        (_long_names, "image", "", [1, 0, 1_000]),
    ],
)
def test_archives_made_to_cost(
    tmp_path: Path, measure: Measure, make: object, type_: str, words: str, numbers: list[int]
) -> None:
    """Bombs of every kind end soon in little memory, and valid files in them are read."""
    path = tmp_path / "archive.zip"
    path.write_bytes(make())

    text, counted, megabytes, seconds = measure(path, type_)

    assert words in text
    assert counted == numbers
    assert megabytes <= MAX_MEGABYTES
    assert seconds <= MAX_SECONDS


def test_as_many_entries_as_allowed(tmp_path: Path, measure: Measure) -> None:
    """An archive of 100,000 entries is accepted and read in bounded time."""
    path = tmp_path / "archive.zip"
    path.write_bytes(bytes(100) + zip64_end(100_000, 46 * 100_000, 0))
    assert "at most" not in measure(path, "image")[0]
    empty = (Raw(b"label/%d.png" % number, method=0) for number in range(_ENTRIES - 1))
    path.write_bytes(raw_zip([*empty, GOOD]))

    _, counted, megabytes, seconds = measure(path, "image")

    assert counted == [1, 0, _ENTRIES - 1]
    assert megabytes <= MAX_MEGABYTES
    assert seconds <= MAX_SECONDS * _ENTRIES / 100_000


def test_more_entries_than_allowed(tmp_path: Path, measure: Measure) -> None:
    """100,001 entries are refused by the end record, whatever else the file contains."""
    path = tmp_path / "archive.zip"
    path.write_bytes(bytes(100) + zip64_end(100_001, 46 * 100_001, 0))

    text, _, megabytes, seconds = measure(path, "image")

    assert "100,001 entries or more; at most 100,000 are allowed" in text
    assert (megabytes <= 10, seconds <= 1) == (True, True)


def test_truncated_archive(tmp_path: Path, measure: Measure) -> None:
    """A truncated archive is refused as not an archive."""
    path = tmp_path / "archive.zip"
    content = make_zip({f"cat/{number}.png": draw(salt=number) for number in range(50)})
    path.write_bytes(content[:-100])

    text, *_ = measure(path, "image")

    assert "no directory at its end" in text


def test_many_boxes(tmp_path: Path, measure: Measure) -> None:
    """60,000 boxes of 600 images take little memory."""
    boxes = [a_box(f"l{number % 9}", number % 20, 1.5, 1 + number, 5) for number in range(20)] * 5
    names = [f"{number}.png" for number in range(600)]
    files = {name: draw(salt=place) for place, name in enumerate(names)}
    file = io.BytesIO(
        make_zip({**files, "annotations.csv": annotations((n, boxes) for n in names)})
    )
    path = tmp_path / "archive.zip"
    path.write_bytes(file.getvalue())

    _, (kept, duplicates, _), megabytes, _ = measure(path, "image-detection")

    assert kept > 9_000
    assert duplicates == 4 * kept
    assert megabytes <= 80


def test_deflate_helper() -> None:
    """The test's raw archives can be read by standard tools."""
    content = raw_zip([GOOD, Raw(b"cat/2.txt", b"two", packed=deflate(b"two"))])

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert archive.read("cat/2.txt") == b"two"
