"""Converts trained arrays to the bytes of an npz archive with a JSON header, and back.

Timestamps are fixed, so equal arrays give equal bytes, and the SHA-256 of an artifact identifies a
model. Nothing is pickled, so reading an artifact runs no code.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array

Model = TypeVar("Model")

_HEADER = "header"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # The first moment that a zip archive can name.
# Exceptions of numpy and zipfile for damaged archives; RuntimeError if the archive seems
# encrypted.
DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


class ArtifactError(Exception):
    """Raised if bytes are not an artifact that this version reads; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Named arrays, and a JSON header that describes them."""

    header: dict[str, Any]
    """The JSON header, including `kind` and `version`."""
    arrays: dict[str, Array]


def dump(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Write arrays and header as one npz archive.

    Args:
        header: JSON members, including `kind` and `version` of the artifact.
        arrays: arrays by name, any numeric type and shape.
    """
    import numpy as np

    # Sorted, because equal models must give equal bytes.
    text = json.dumps(dict(header), sort_keys=True).encode()
    members = {_HEADER: np.frombuffer(text, np.uint8), **arrays}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            content = io.BytesIO()
            np.lib.format.write_array(
                content, np.ascontiguousarray(members[name]), allow_pickle=False
            )
            # A fixed time and system; ZipFile would write the current time and platform.
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            member.create_system = 3
            archive.writestr(member, content.getvalue())
    return stream.getvalue()


def load(data: bytes, kind: str, version: int, oldest: int | None = None) -> Artifact:
    """Read an archive written by `dump`.

    Args:
        data: bytes of the archive.
        kind: the kind that is expected.
        version: the version that is expected.
        oldest: the oldest version that is accepted; None accepts only `version`.

    Raises:
        ArtifactError: the bytes are damaged, or have another kind or version.
    """
    members = _read_members(data)
    header = read_header(members.pop(_HEADER, None))
    if header.get("kind") != kind:
        raise ArtifactError(f"This artifact is of kind {header.get('kind')!r}, not {kind!r}.")
    if header.get("version") not in range(oldest or version, version + 1):
        raise ArtifactError(
            f"This artifact has version {header.get('version')!r}, this engine reads version "
            f"{version}."
        )
    return Artifact(header, members)


def read(
    data: bytes,
    kind: str,
    version: int,
    build: Callable[[Artifact], Model],
    oldest: int | None = None,
) -> Model:
    """Read an archive written by `dump`, and build a model from it.

    Args:
        data: bytes of the archive.
        kind: the kind that is expected.
        version: the version that is expected.
        build: builds the model; may raise KeyError or TypeError for a missing or wrong part.
        oldest: the oldest version that is accepted; None accepts only `version`.

    Raises:
        ArtifactError: the bytes are damaged, have another kind or version, or miss a part.
    """
    content = load(data, kind, version, oldest)
    try:
        return build(content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as cause:
        raise ArtifactError(f"The artifact lacks a part of a {kind} model: {cause}") from cause


def read_parts(data: bytes) -> Artifact:
    """Read the header and the arrays of an archive of any kind and version.

    Raises:
        ArtifactError: the bytes are damaged or not an artifact.
    """
    members = _read_members(data)
    return Artifact(read_header(members.pop(_HEADER, None)), members)


def add_prefix(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Add a prefix and a dot to the names of arrays."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def strip_prefix(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix and a dot; remove both from the names."""
    start = f"{prefix}."
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}


def read_kind(data: bytes) -> str:
    """Return the kind in an archive's header, or an empty string if the header has no kind.

    Raises:
        ArtifactError: the archive is damaged.
    """
    header = read_header(_read_members(data, {_HEADER}).get(_HEADER))
    return str(header.get("kind", ""))


def _read_members(data: bytes, names: Container[str] | None = None) -> dict[str, Array]:
    """Read some arrays of the archive by name, or all of them, without pickle."""
    import numpy as np

    if not data.startswith(b"PK"):
        raise ArtifactError("These bytes are not an artifact.")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            wanted = [name for name in archive.files if names is None or name in names]
            members = {name: archive[name] for name in wanted}
    except DAMAGE as cause:
        raise ArtifactError(f"The artifact is damaged: {cause}") from cause
    # Numpy returns a member that is not an array as bytes.
    if not all(isinstance(member, np.ndarray) for member in members.values()):
        raise ArtifactError("The artifact is damaged: a member is not an array.")
    return members


def read_header(member: Array | None) -> dict[str, Any]:
    """Decode the JSON header, which is an array of bytes, uint8, shape (bytes,)."""
    if member is None:
        raise ArtifactError("These bytes hold arrays, but not those of an artifact.")
    try:
        header = json.loads(member.tobytes())
    except (ValueError, RecursionError) as cause:
        raise ArtifactError(f"The artifact's header is damaged: {cause}") from cause
    if not isinstance(header, dict):
        raise ArtifactError("The artifact's header is damaged: it is not a JSON object.")
    return header
