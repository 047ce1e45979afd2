"""Reads and writes shards: files with the vectors and digests of up to a few thousand texts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.example import DIGEST_BYTES

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]


def dump_shard(digests: Sequence[bytes], vectors: Floats) -> bytes:
    """Return vectors and the digests of their texts as an npz archive.

    Args:
        digests: digest of each text, 16 bytes.
        vectors: vectors of the texts in the order of `digests`, float32, shape (texts, dims).

    Returns:
        An npz archive with the arrays `digests`, uint8, shape (texts, 16), and `vectors`, float16,
        shape (texts, dims).
    """
    packed = np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), DIGEST_BYTES)
    buffer = io.BytesIO()
    # Float16 halves the size; its rounding is too small to change predictions.
    np.savez(buffer, digests=packed, vectors=vectors.astype(np.float16))
    return buffer.getvalue()


def load_shard(content: bytes) -> tuple[list[bytes], npt.NDArray[np.float16]]:
    """Return the digests and the vectors, float16, (texts, dims), in a result of `dump_shard`."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        digests = archive["digests"].tobytes()
        vectors = archive["vectors"]
    count = len(digests) // DIGEST_BYTES
    return [digests[i * DIGEST_BYTES : (i + 1) * DIGEST_BYTES] for i in range(count)], vectors
