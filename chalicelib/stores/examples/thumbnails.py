"""Thumbnails in the bucket, beside the pictures that they show, by the digest of those."""

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
    """The size of the picture that a thumbnail shows."""

    width: int
    """In pixels, as displayed."""
    height: int
    """In pixels, as displayed."""


@translate_errors
class ThumbnailStore:
    """Reads and writes thumbnails; each knows the size of its picture."""

    def __init__(self, settings: Settings, clients: Clients, artifacts: ArtifactStore) -> None:
        self._bucket = settings.bucket
        self._clients = clients
        self._artifacts = artifacts

    def put(self, dataset_id: int, digest: str, content: bytes, size: PictureSize) -> None:
        """Write a thumbnail; writing it again is harmless.

        Args:
            dataset_id: dataset of the picture.
            digest: of the picture's file, 32 hex digits.
            content: a JPEG.
            size: of the picture.
        """
        self._clients.s3.put_object(
            Bucket=self._bucket,
            Key=thumbnail_key(dataset_id, digest),
            Body=content,
            ContentType="image/jpeg",
            Metadata={_SIZE: f"{size.width}x{size.height}"},
        )

    def find(self, dataset_id: int, digest: str) -> PictureSize | None:
        """Tell the size of the picture whose thumbnail is there; None when there is none."""
        noted = self._artifacts.notes(thumbnail_key(dataset_id, digest)) or {}
        if _SIZE not in noted:
            return None  # backups bring back objects without what was noted with them
        width, _, height = noted[_SIZE].partition("x")
        return PictureSize(int(width), int(height))

    def delete(self, dataset_id: int, digests: Iterable[str]) -> None:
        """Delete thumbnails; missing ones are fine."""
        self._artifacts.delete_keys(thumbnail_key(dataset_id, digest) for digest in digests)

    def delete_all(self, dataset_id: int) -> None:
        """Delete every thumbnail of a dataset."""
        self._artifacts.delete_prefix(thumbnail_key(dataset_id, ""))

    def url(self, dataset_id: int, digest: str, name: str) -> str:
        """Make a URL that shows the thumbnail for 30 minutes, as an attachment of this name."""
        return self._artifacts.url(thumbnail_key(dataset_id, digest), name)


def thumbnail_key(dataset_id: int, digest: str) -> str:
    """Place of the thumbnail of a picture."""
    return f"{dataset_prefix(dataset_id)}thumbnails/{digest}"


class KnownThumbnails:
    """Remembers of which examples a process has seen the thumbnail.

    By example and not by picture: an id never comes back, while a picture that was removed, and
    its thumbnail with it, may be added again.
    """

    def __init__(self) -> None:
        self._sizes: OrderedDict[int, PictureSize] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, example_id: int) -> PictureSize | None:
        """Return the size of an example's picture; None when nobody looked yet."""
        with self._lock:
            return self._sizes.get(example_id)

    def note(self, example_id: int, size: PictureSize) -> None:
        """Remember one; the oldest is forgotten when there are too many."""
        with self._lock:
            self._sizes[example_id] = size
            while len(self._sizes) > _REMEMBERED:
                self._sizes.popitem(last=False)
