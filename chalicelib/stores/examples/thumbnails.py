"""Thumbnails in the bucket, stored by the digest of the original image."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix

_SIZE = "size"
_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class PictureSize:
    """The size of an image as displayed."""

    width: int
    """Displayed width in pixels."""
    height: int
    """Displayed height in pixels."""


@translate_errors
class ThumbnailStore:
    """Reads and writes thumbnails. An object's metadata has the size of the original image."""

    def __init__(self, settings: Settings, clients: Clients, artifacts: ArtifactStore) -> None:
        self._bucket = settings.bucket
        self._clients = clients
        self._artifacts = artifacts

    def put(self, dataset_id: int, digest: str, content: bytes, size: PictureSize) -> None:
        """Write a thumbnail. Idempotent.

        `digest` is the digest of the image file, 32 hex digits. `content` is the thumbnail as a
        JPEG file, and `size` the size of the original image.
        """
        self._clients.s3.put_object(
            Bucket=self._bucket,
            Key=thumbnail_key(dataset_id, digest),
            Body=content,
            ContentType="image/jpeg",
            Metadata={_SIZE: f"{size.width}x{size.height}"},
        )

    def find(self, dataset_id: int, digest: str) -> PictureSize | None:
        """Return the size of the original image; None if there is no thumbnail."""
        noted = self._artifacts.notes(thumbnail_key(dataset_id, digest)) or {}
        if _SIZE not in noted:
            # Objects restored from a backup have no metadata; the thumbnail is made again.
            return None
        width, _, height = noted[_SIZE].partition("x")
        return PictureSize(int(width), int(height))

    def delete(self, dataset_id: int, digests: Iterable[str]) -> None:
        """Delete thumbnails. Missing thumbnails are ignored."""
        self._artifacts.delete_keys(thumbnail_key(dataset_id, digest) for digest in digests)

    def delete_all(self, dataset_id: int) -> None:
        """Delete all thumbnails of a dataset."""
        self._artifacts.delete_prefix(thumbnail_key(dataset_id, ""))

    def url(self, dataset_id: int, digest: str, name: str) -> str:
        """Return a URL of a thumbnail, valid for 30 minutes. Browsers save the image as `name`."""
        return self._artifacts.url(thumbnail_key(dataset_id, digest), name)


def thumbnail_key(dataset_id: int, digest: str) -> str:
    """Return the key of an image's thumbnail."""
    return f"{dataset_prefix(dataset_id)}thumbnails/{digest}"


class KnownThumbnails:
    """Caches the image sizes of examples that have a thumbnail."""

    def __init__(self) -> None:
        # By example id, which is never reused. An image may be deleted with its thumbnail and
        # added again.
        self._sizes: OrderedDict[int, PictureSize] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, example_id: int) -> PictureSize | None:
        """Return the size of an example's image; None if it is not cached."""
        with self._lock:
            return self._sizes.get(example_id)

    def note(self, example_id: int, size: PictureSize) -> None:
        """Cache the size of an example's image; evict the oldest entry if the cache is full."""
        with self._lock:
            self._sizes[example_id] = size
            while len(self._sizes) > _REMEMBERED:
                self._sizes.popitem(last=False)
