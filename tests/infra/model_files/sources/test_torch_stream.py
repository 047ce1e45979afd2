"""The reader of PyTorch files: valid ones are read exactly, hostile ones execute nothing."""

import struct

import numpy as np
import pytest

from infra.downloads.errors import BrokenFile
from infra.model_files.sources.torch_stream import read_tensors
from tests.infra.model_files.sources import torch_files as files

NUMBERS = np.arange(12, dtype=np.float32)


@pytest.fixture
def read(tmp_path):
    """Reads a file of the given bytes."""

    def read_bytes(content):
        path = tmp_path / "weights.pth"
        path.write_bytes(content)
        return read_tensors(path)

    return read_bytes


def one(**changes):
    """Make a file with one tensor of 3 x 4 numbers, with other facts where given."""
    described = {"key": "k", "count": 12, "shape": (3, 4), "strides": (4, 1)} | changes
    return files.stream({"weight": files.tensor(**described)}, {"k": NUMBERS})


def test_tensors_are_read_as_written(tmp_path):
    """Floats, doubles and integers come out with their bits, shapes and names."""
    random = np.random.default_rng(0)
    tensors = {
        "a.weight": random.normal(size=(4, 3, 2, 2)).astype(np.float32),
        "a.bias": random.normal(size=4),
        "steps": np.array(7, np.int64),
    }
    files.save(tmp_path / "weights.pth", tensors)

    found = read_tensors(tmp_path / "weights.pth")

    assert list(found) == list(tensors)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        assert found[name].tobytes() == tensor.tobytes()


def test_views_are_followed(read):
    """A transposed tensor that starts inside its storage is read correctly."""
    found = read(one(shape=(2, 3), strides=(1, 4), offset=1))["weight"]

    assert found.tolist() == [[1, 5, 9], [2, 6, 10]]
    assert found.flags.c_contiguous


HOSTILE = {
    "a command": files.call("os.system", files.text("touch {path}")),
    "builtins": files.call("builtins.eval", files.text("open('{path}', 'w')")),
    "a dotted name": b"\x8c\x0bcollections\x8c\x14OrderedDict.__init__\x93)R",
    "another function of torch": files.call("torch._utils._rebuild_parameter"),
    "torch's loader": files.call("torch.load", files.text("{path}")),
    "another storage": files.storage("k", 12, "CharStorage"),
    "the instance opcode": b"(" + files.text("touch {path}") + b"ios\nsystem\n",
    "numpy": files.call("numpy.load", files.text("{path}")),
    "an extension": b"\x82\x01",
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("place", range(3))
def test_hostile_streams_run_nothing(read, tmp_path, value, place):
    """Any global in a pickle except those of tensor tables is refused."""
    target = tmp_path / "ran"
    value = value.replace(b"{path}", str(target).encode())
    hostile = files.PROTOCOL + value + files.STOP
    parts = [files.MAGIC, files.VERSION, files.system(), files.table({"weight": value})]
    parts[place] = hostile if place else files.MAGIC

    with pytest.raises(BrokenFile):
        read(b"".join(parts) + files.blocks({"k": NUMBERS}))

    assert not target.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        files.PROTOCOL + b"K\x01" + files.STOP + files.VERSION + files.system(),
        files.MAGIC + files.VERSION + files.system() + files.PROTOCOL + b"]" + files.STOP,
        files.stream({"weight": files.text("no tensor")}, {}),
        files.stream({"weight": files.tensor("k", 12, (12,), (1,))}, {}),
        files.stream({"weight": files.tensor("k", 12, (12,), (1,))}, {"other": NUMBERS}),
        files.stream({"w": files.tensor("k", 12, (12,), (1,))}, {"k": NUMBERS}, little=False),
        files.stream({"weight": files.tensor("k", 13, (12,), (1,))}, {"k": NUMBERS}),
        files.stream({"weight": b"(" + files.text("storage") + b"tQ"}, {"k": NUMBERS}),
        files.stream({"weight": files.call("torch._utils._rebuild_tensor_v2")}, {}),
        one()[:-1],
        one()[:200],
        one(shape=(3, 5)),
        one(offset=1),
        one(shape=(3,)),
        one(shape=(-3, 4)),
        one(strides=(-4, 1), offset=11),
        one(shape=(1 << 30, 1 << 30), strides=(0, 0)),
    ],
)
def test_what_is_not_a_table_of_tensors_is_refused(read, content):
    """Other, truncated and inconsistent files are refused as broken."""
    with pytest.raises(BrokenFile, match="PyTorch"):
        read(content)


def test_a_promised_block_is_not_allocated(read):
    """A length beyond the file's end is refused before memory is allocated."""
    huge = 2**31 - 1
    head = files.MAGIC + files.VERSION + files.system()
    entry = files.table({"weight": files.tensor("k", huge, (1,), (1,))})
    keys = files.PROTOCOL + b"](" + files.text("k") + b"e" + files.STOP

    with pytest.raises(BrokenFile, match="cut short"):
        read(head + entry + keys + struct.pack("<q", huge) + NUMBERS.tobytes())
