"""Reads the tensors of a legacy PyTorch file (`torch.save` before 1.6) with numpy alone.

Such a file is a pickle, and a pickle can run code. This reader accepts only ordered dictionaries,
tensors and storage types, and calls only functions of this module.
"""

from __future__ import annotations

import collections
import math
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from chalicelib.domain.common.arrays import Array
from infra.downloads.errors import BrokenFile

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_COUNT_BYTES = 8
_TYPES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "LongStorage": "<i8"}


@dataclass(frozen=True)
class _Storage:
    """A block of numbers, which follows the pickles in the file."""

    key: str
    dtype: str
    """The type of the numbers, as numpy names it."""
    count: int
    """Number of values."""


@dataclass(frozen=True)
class _Tensor:
    """A view of a storage; offset and strides are numbers of values, not bytes."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _rebuild_tensor(*described: Any) -> _Tensor:
    """Build a tensor. The unpickler calls this instead of the PyTorch function of this name.

    Gradients and hooks are dropped.
    """
    storage, offset, shape, strides = described[:4]
    sizes = (offset, *shape, *strides)
    if not isinstance(storage, _Storage) or len(shape) != len(strides):
        raise BrokenFile("The PyTorch file describes a tensor without a storage or shape.")
    if any(type(size) is not int or size < 0 for size in sizes):
        raise BrokenFile("The PyTorch file describes a tensor with sizes that are not numbers.")
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


class _Unpickler(pickle.Unpickler):
    """Reads a pickle that consists of a table of tensors and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function that stands for a name in the pickle."""
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise BrokenFile(
            f"The PyTorch file names {module}.{name}, which no table of tensors needs."
        )

    def persistent_load(self, pid: Any) -> _Storage:
        """Return the storage that a tensor refers to."""
        match pid:
            case ("storage", str(dtype), str(key), str(), int(count), None) if (
                dtype in _TYPES.values() and count >= 0
            ):
                return _Storage(key, dtype, count)
        raise BrokenFile("The PyTorch file refers to something that is not a storage.")


def _next(file: BinaryIO) -> Any:
    try:
        return _Unpickler(file).load()
    except BrokenFile:
        raise
    except (  # Errors that unpickling damaged bytes can raise.
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        OverflowError,
        MemoryError,
    ) as error:
        raise BrokenFile(f"The PyTorch file is damaged: {error}") from error


def _read_blocks(file: BinaryIO, storages: Mapping[str, _Storage]) -> dict[str, Array]:
    """Read the blocks of numbers after the pickles, in the order that the file lists."""
    keys = _next(file)
    if not isinstance(keys, list) or sorted(map(repr, keys)) != sorted(map(repr, storages)):
        raise BrokenFile("The PyTorch file lists other blocks than its tensors refer to.")
    size = os.fstat(file.fileno()).st_size
    blocks: dict[str, Array] = {}
    for key in keys:
        storage = storages[key]
        count = int.from_bytes(file.read(_COUNT_BYTES), "little")
        wanted = storage.count * np.dtype(storage.dtype).itemsize
        if count != storage.count or file.tell() + wanted > size:
            raise BrokenFile("The PyTorch file is cut short, or a block has another length.")
        blocks[key] = np.frombuffer(file.read(wanted), storage.dtype)
    return blocks


def _view(tensor: _Tensor, block: Array) -> Array:
    """Return a tensor's numbers, C-contiguous."""
    last = sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)
    )
    count = math.prod(tensor.shape)  # with strides of 0 a small block could fill the memory
    if count and (tensor.offset + last >= len(block) or count > len(block)):
        raise BrokenFile("The PyTorch file has a tensor that reaches beyond its numbers.")
    strides = [stride * block.itemsize for stride in tensor.strides]
    view = np.lib.stride_tricks.as_strided(
        block[tensor.offset :], tensor.shape, strides, writeable=False
    )
    return np.array(view, order="C")


def _check_head(head: Sequence[Any]) -> None:
    magic, protocol, system = head
    little = isinstance(system, dict) and system.get("little_endian") is True
    if (magic, protocol, little) != (_MAGIC, _PROTOCOL, True):
        raise BrokenFile("This is not a PyTorch file in the legacy format.")


def read_tensors(path: Path) -> dict[str, Array]:
    """Read the tensors of a legacy PyTorch file, by name.

    Raises:
        BrokenFile: the file has another format, is damaged, or has other content than tensors.
    """
    with path.open("rb") as file:
        _check_head([_next(file) for _ in range(3)])
        table = _next(file)
        if not isinstance(table, dict):
            raise BrokenFile("The PyTorch file holds no table of tensors.")
        if not all(isinstance(tensor, _Tensor) for tensor in table.values()):
            raise BrokenFile("The PyTorch file holds something that is not a tensor.")
        storages = {tensor.storage.key: tensor.storage for tensor in table.values()}
        blocks = _read_blocks(file, storages)
    return {str(name): _view(tensor, blocks[tensor.storage.key]) for name, tensor in table.items()}
