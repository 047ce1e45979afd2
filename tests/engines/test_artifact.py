"""Archives of arrays: round trip, equal bytes, and refusal of other files."""

from __future__ import annotations

import io
import pickle
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.engines.artifact import ArtifactError, dump, load

HEADER = {"kind": "toy", "version": 3, "labels": ["größe", "返品"]}
ARRAYS = {"weights": np.arange(6, dtype=np.float16).reshape(2, 3), "biases": np.zeros(3)}


def test_round_trip() -> None:
    """Header and arrays are read back with type and shape."""
    content = load(dump(HEADER, ARRAYS), "toy", 3)

    assert content.header == HEADER
    assert content.arrays["weights"].dtype == np.float16
    assert content.arrays["weights"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert sorted(content.arrays) == ["biases", "weights"]


def test_bytes_depend_on_the_content_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes depend neither on the clock nor on the order of arguments."""
    first = dump(HEADER, ARRAYS)
    monkeypatch.setattr(time, "time", lambda: 2e9)

    second = dump(dict(reversed(HEADER.items())), dict(reversed(ARRAYS.items())))

    assert first == second


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"hello",
        pickle.dumps([1]),
        dump(HEADER, ARRAYS)[:-40],
        dump(HEADER, ARRAYS)[40:],
    ],
    ids=["empty", "magic", "text", "pickle", "cut", "headless"],
)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    """Anything except an archive raises ArtifactError."""
    with pytest.raises(ArtifactError):
        load(data, "toy", 3)


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 200_000, b"9" * 10_000, b"\xff"])
def test_damaged_headers_are_refused(text: bytes) -> None:
    """A header that is not valid JSON raises ArtifactError."""
    stream = io.BytesIO()
    np.savez(stream, header=np.frombuffer(text, np.uint8))

    with pytest.raises(ArtifactError, match="header is damaged"):
        load(stream.getvalue(), "toy", 3)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_harmless(place: int, mask: int) -> None:
    """A changed byte raises ArtifactError or leaves the arrays unchanged."""
    data = bytearray(dump(HEADER, ARRAYS))
    data[place % len(data)] ^= mask

    try:
        content = load(bytes(data), "toy", 3)
    except ArtifactError:
        return

    for name, array in ARRAYS.items():
        if name in content.arrays:
            np.testing.assert_array_equal(content.arrays[name], array)


def test_foreign_archives_are_refused() -> None:
    """An archive without a header, or with one that is not an object, raises ArtifactError."""
    stream = io.BytesIO()
    np.savez(stream, weights=np.zeros(2))
    listed = io.BytesIO()
    np.savez(listed, header=np.frombuffer(b"[1]", np.uint8))
    broken = io.BytesIO()
    np.savez(broken, header=np.frombuffer(b"{", np.uint8))

    for data in (stream, listed, broken):
        with pytest.raises(ArtifactError):
            load(data.getvalue(), "toy", 3)


def test_pickled_arrays_are_never_read() -> None:
    """Archives with object arrays, which could execute code, are refused."""
    stream = io.BytesIO()
    np.savez(stream, header=np.array([{"kind": "toy"}], dtype=object))

    with pytest.raises(ArtifactError):
        load(stream.getvalue(), "toy", 3)


def test_zip_members_that_are_no_arrays_are_refused() -> None:
    """A zip of text files is not an artifact."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header.npy", b"text")

    with pytest.raises(ArtifactError):
        load(stream.getvalue(), "toy", 3)


def test_other_kind_and_version_are_named() -> None:
    """The error for another kind or version has both the found and the expected one."""
    data = dump(HEADER, ARRAYS)

    with pytest.raises(ArtifactError, match="'toy', not 'tree'"):
        load(data, "tree", 3)
    with pytest.raises(ArtifactError, match=r"version 3, this engine reads version 4\.$"):
        load(data, "toy", 4)
