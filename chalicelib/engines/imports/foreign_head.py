"""Copies the arrays of a head from an untrusted source, after checking them.

Every array is checked before memory is allocated for it. Only the header and the arrays are
copied. So other content of the uploaded bytes never reaches a loader of `.npz` files.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import DAMAGE, ArtifactError, dump, read_header

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array

MAX_HEAD_BYTES = 200 * 1024 * 1024
_MAX_ARRAYS = 100
_MAX_HEADER_BYTES = 4 * 1024 * 1024
_MAX_DIMENSIONS = 4
# The record at the end of a zip archive, which contains the size of the directory.
_END = struct.Struct("<4s4H2LH")
_ZIP64_LOCATOR_BYTES = 20
_MAX_DIRECTORY_BYTES = 400 * _MAX_ARRAYS
_HEADER = "header"
_NAMES = re.compile(r"([A-Za-z0-9_.]{1,100})\.npy")
_TYPES = frozenset(map(np.dtype, ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "?")))
# Longest description of type and shape in a file of numpy.
_MAX_DESCRIPTION = 1_000


def copy_head(content: bytes, check: Callable[[], None]) -> tuple[dict[str, Any], bytes]:
    """Check a stored head; return its header, and a copy with only the header and the arrays.

    Args:
        content: bytes of an artifact, at most `MAX_HEAD_BYTES`.
        check: called before each array; may raise an error to stop.

    Raises:
        ArtifactError: the bytes are not an artifact, or have values that are not finite numbers.
    """
    arrays = _read_arrays(content, check)
    stored = arrays.pop(_HEADER, None)
    if stored is None or stored.dtype != np.uint8 or stored.nbytes > _MAX_HEADER_BYTES:
        raise ArtifactError("The head has no header, or one that is too long.")
    header = read_header(stored)
    return header, dump(header, arrays)


def _read_arrays(content: bytes, check: Callable[[], None]) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    _check_directory(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_ARRAYS:
                raise ArtifactError(f"The head has more than {_MAX_ARRAYS} arrays.")
            # Members that overlap would take more memory than the file has bytes.
            if sum(member.file_size for member in members) > len(content):
                raise ArtifactError("The arrays of the head are compressed or overlap.")
            for member in members:
                check()
                name = _NAMES.fullmatch(member.filename)
                # A compressed array could unpack to far more than the limit.
                if name is None or member.compress_type != zipfile.ZIP_STORED:
                    raise ArtifactError("The head has a member that is not a stored array.")
                if name[1] in arrays:
                    raise ArtifactError(f"The head holds the array {name[1]} twice.")
                arrays[name[1]] = _read_array(name[1], archive.read(member))
    except DAMAGE as cause:
        raise ArtifactError(f"The head is damaged: {cause}") from cause
    return arrays


def _check_directory(content: bytes) -> None:
    """Raise ArtifactError if the list of files in a zip archive is missing or too long."""
    end = content[-_END.size :]
    is_end = len(end) == _END.size and end.startswith(b"PK\x05\x06")
    # A second, larger record would count instead of this one.
    before = content[-_END.size - _ZIP64_LOCATOR_BYTES : -_END.size]
    if not is_end or before.startswith(b"PK\x06\x07"):
        raise ArtifactError("The head is not an archive of arrays.")
    if _END.unpack(end)[5] > _MAX_DIRECTORY_BYTES:
        raise ArtifactError(f"The head has more than {_MAX_ARRAYS} arrays.")


def _read_array(name: str, content: bytes) -> Array:
    """Read a numpy file; the shape in its header must match its length.

    Raises:
        ArtifactError: the file has pickled objects, a shape that does not match, or numbers that
            are not finite.
    """
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ArtifactError(f"The array {name} is of an unknown version.")
    shape, is_fortran, kind = np.lib.format.read_array_header_1_0(
        stream, max_header_size=_MAX_DESCRIPTION
    )
    if kind not in _TYPES or kind.hasobject:
        raise ArtifactError(f"The array {name} holds {kind}, which is not a type of numbers.")
    start = stream.tell()
    # Python's integers: a product of huge sides must not wrap around.
    wanted = math.prod(shape) * kind.itemsize
    if len(shape) > _MAX_DIMENSIONS or min(shape, default=0) < 0 or wanted != len(content) - start:
        raise ArtifactError(f"The array {name} does not have the shape {shape} of its header.")
    array = np.frombuffer(content, kind, offset=start).reshape(
        shape, order="F" if is_fortran else "C"
    )
    if kind.kind == "f" and not np.isfinite(array).all():
        raise ArtifactError(f"The array {name} holds numbers that are not finite.")
    return array
