"""Archives that are stored in slices, and the tensors inside."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from infra.downloads.errors import BrokenFile
from infra.model_files.sources.safetensors import SlicedFile, open_member, read_tensors


def cut(folder, content, count):
    """Write content as a number of slices and return their paths."""
    size = -(-len(content) // count)
    paths = [folder / f"slice{number}" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(content[number * size : (number + 1) * size])
    return paths


def safetensors(tensors, **changes):
    """Write a safetensors file, its tensors out of the header's order."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        content = array.tobytes()
        kind = {"float32": "F32", "int64": "I64"}[str(array.dtype)]
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": offsets} | changes
        data += content
    text = json.dumps(dict(reversed(header.items()))).encode()
    return struct.pack("<Q", len(text)) + text + data


TENSORS = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "ids": np.arange(4, dtype=np.int64),
    "bias": np.array([0.5, -1.5], np.float32),
}


@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_an_archive_in_slices_reads_like_one_file(tmp_path, count):
    """Members come out whole wherever the cuts fall."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/a.bin", bytes(range(256)) * 40)
        archive.writestr("model/b.txt", "second")
    paths = cut(tmp_path, packed.getvalue(), count)

    with open_member(paths, "model/a.bin") as first, open_member(paths, "model/b.txt") as second:
        assert first.read() == bytes(range(256)) * 40
        assert second.read() == b"second"
    whole = SlicedFile(paths)
    assert whole.readall() == packed.getvalue()
    assert whole.read(1) == b""
    assert whole.seek(-3, io.SEEK_END) == len(packed.getvalue()) - 3


def test_what_is_not_an_archive_is_refused(tmp_path):
    """A missing slice or member is said, not met later as a strange error."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a", bytes(1000))
    paths = cut(tmp_path, packed.getvalue(), 3)

    with pytest.raises(BrokenFile, match=r"model\.safetensors"):
        open_member(paths, "model.safetensors")
    with pytest.raises(BrokenFile, match="readable a"):
        open_member(paths[:2], "a")


def test_tensors_come_out_in_the_order_of_the_file():
    """Names, shapes and values are those that were written; metadata is none of them."""
    found = list(read_tensors(io.BytesIO(safetensors(TENSORS))))

    assert [name for name, _ in found] == list(TENSORS)
    for name, values in found:
        assert values.dtype == TENSORS[name].dtype
        assert (values == TENSORS[name]).all()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x05\0\0\0\0\0\0\0nojson",
        b"\xff" * 8,
        safetensors(TENSORS)[:-1],
        safetensors(TENSORS, dtype="BF16"),
        safetensors(TENSORS, shape=[99, 99]),
        safetensors(TENSORS, data_offsets=[8, 4]),
        safetensors(TENSORS, data_offsets=None),
    ],
    ids=["empty", "no json", "huge", "cut", "type", "shape", "backwards", "no offsets"],
)
def test_a_broken_tensor_file_is_refused(content):
    """Whatever is wrong with it, the answer is a line for a person."""
    with pytest.raises(BrokenFile, match="safetensors"):
        list(read_tensors(io.BytesIO(content)))
