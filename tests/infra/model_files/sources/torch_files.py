"""Writes legacy PyTorch files, right and hostile ones, opcode by opcode and without PyTorch."""

import struct

import numpy as np

PROTOCOL, STOP = b"\x80\x02", b"."
MAGIC = PROTOCOL + b"\x8a\x0a" + (0x1950A86A20F9469CFC6C).to_bytes(10, "little") + STOP
VERSION = PROTOCOL + b"M\xe9\x03" + STOP
ORDERED = b"ccollections\nOrderedDict\n)R"
TYPES = {"<f4": "FloatStorage", "<f8": "DoubleStorage", "<i8": "LongStorage"}


def text(value):
    """Write a string."""
    content = value.encode()
    return b"X" + struct.pack("<I", len(content)) + content


def number(value):
    """Write a 32-bit integer."""
    return b"J" + struct.pack("<i", value)


def numbers(values):
    """Write a tuple of integers."""
    return b"(" + b"".join(map(number, values)) + b"t"


def call(name, *arguments):
    """Write a call of `module name` with the arguments."""
    module, _, function = name.rpartition(".")
    return f"c{module}\n{function}\n".encode() + b"(" + b"".join(arguments) + b"tR"


def storage(key, count, kind="FloatStorage"):
    """Write a reference to a block of numbers."""
    parts = [text("storage"), f"ctorch\n{kind}\n".encode(), text(key), text("cpu"), number(count)]
    return b"(" + b"".join(parts) + b"NtQ"


def tensor(key, count, shape, strides, *, offset=0, kind="FloatStorage"):
    """Write a tensor, a view of a block."""
    places = [number(offset), numbers(shape), numbers(strides)]
    return call(
        "torch._utils._rebuild_tensor_v2",
        storage(key, count, kind),
        *places,
        b"\x89",
        ORDERED,
    )


def system(*, little=True):
    """Write facts of the machine that wrote the file."""
    return PROTOCOL + b"}" + text("little_endian") + (b"\x88" if little else b"\x89") + b"s" + STOP


def table(entries):
    """Write an ordered dictionary of names and values already written."""
    body = b"".join(text(name) + value for name, value in entries.items())
    return PROTOCOL + ORDERED + b"(" + body + b"u" + STOP


def blocks(arrays):
    """Write the blocks after the table, by key."""
    keys = PROTOCOL + b"](" + b"".join(map(text, arrays)) + b"e" + STOP
    content = [struct.pack("<q", array.size) + array.tobytes() for array in arrays.values()]
    return keys + b"".join(content)


def stream(entries, arrays, *, little=True):
    """Write a whole file."""
    return MAGIC + VERSION + system(little=little) + table(entries) + blocks(arrays)


def save(path, tensors):
    """Write arrays by name as PyTorch 1.5 would."""
    entries, arrays = {}, {}
    for place, (name, array) in enumerate(tensors.items()):
        flat = np.asarray(array, order="C")
        strides = [stride // flat.itemsize for stride in flat.strides]
        kind = TYPES[flat.dtype.str]
        entries[name] = tensor(str(place), flat.size, flat.shape, strides, kind=kind)
        arrays[str(place)] = flat.reshape(-1)
    path.write_bytes(stream(entries, arrays))
